"""The document-first API: documents, their runs, their events, and the older addresses that lead to the same."""
