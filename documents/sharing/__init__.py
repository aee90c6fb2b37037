"""Links that show one document to people without an account, with the values that were ticked blacked out."""
