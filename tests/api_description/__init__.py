"""The API's description of itself."""
