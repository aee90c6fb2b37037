"""Documents, their text and their results over JSON."""
