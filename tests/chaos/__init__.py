"""Real processes, killed at every moment: what must be true afterwards."""
