"""Tags over JSON."""
