"""Webhooks: an organization's events, told to addresses of its choice."""
