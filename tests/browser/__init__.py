"""Journeys of a person through the product, in a real browser against real processes."""
