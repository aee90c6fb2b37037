"""Webhook subscriptions and deliveries: comes with the integration issue."""
