"""What a document's schema should be: its kind, its key fields, its tables, a prompt for it."""
