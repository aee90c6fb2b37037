"""Users as the account's routes see them: listing, changing and deleting people."""
