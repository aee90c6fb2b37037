"""Models and providers over JSON."""
