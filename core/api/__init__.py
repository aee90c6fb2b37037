"""Plumbing of the JSON APIs: bodies in, answers out, problems, limits, the OpenAPI description. No business word."""
