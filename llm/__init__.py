"""Talk to a model: messages out, deltas and usage in. Knows nothing of the domain above it."""
