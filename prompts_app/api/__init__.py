"""Prompts over JSON."""
