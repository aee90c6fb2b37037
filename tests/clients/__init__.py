"""The published clients of the contract against a running server."""
