"""Pages of documents: the list, the workspace of one document, its viewer, its extraction."""
