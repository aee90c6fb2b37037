"""How right the offline model and the grounding are on documents whose truth is known."""
