"""The agent over JSON and server-sent events: thin doors to the same services and streams as the pages use."""
