"""Search over the words of all documents: comes with Agent Mode."""
