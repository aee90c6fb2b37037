"""Documents, their versions, pages, runs, events and extractions."""
