"""Requests nobody would think of, made from the API's own description."""
