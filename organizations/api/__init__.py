"""The account side of the JSON API: who asks, organizations, users, tokens."""
