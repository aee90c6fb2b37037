"""Webhooks over JSON."""
