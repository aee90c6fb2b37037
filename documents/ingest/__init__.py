"""Reading files: sniff, convert, text layer, OCR, render; pure code that runs in child processes without Django."""
