"""Tags: labels with a color that link documents and prompts."""
