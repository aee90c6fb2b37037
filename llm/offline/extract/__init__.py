"""Fill a JSON schema from a document: every value stands on a page or is the schema's empty value."""
