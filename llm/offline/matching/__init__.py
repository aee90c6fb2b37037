"""What a label means: the business vocabulary of several languages, and how alike two names are."""
