"""Answers to questions about one document: which pages a model is shown, what it says, and which citations hold."""
