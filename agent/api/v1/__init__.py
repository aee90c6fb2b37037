"""`/v1`: questions about one document."""
