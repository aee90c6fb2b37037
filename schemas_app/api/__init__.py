"""Schemas over JSON."""
