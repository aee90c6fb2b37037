"""Where words stand: cells, lines, blocks, tables, check boxes. Knows nothing of languages or schemas."""
