"""Prompts and their immutable revisions; which prompts apply to which document."""
