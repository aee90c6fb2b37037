"""Tables from lines: a head and the rows that align with it, lists without a head, and what their columns mean."""
