"""Commands of the roof."""
