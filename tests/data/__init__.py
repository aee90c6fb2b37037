"""Documents that tests make for themselves."""
