"""The ground: errors, base models and plumbing that every app stands on. No business word lives here."""
