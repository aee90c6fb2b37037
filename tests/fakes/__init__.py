"""Stand-ins for things outside, spoken to over loopback as the real ones would be."""
