"""Schemas and their immutable revisions; validation of schemas and of data against them."""
