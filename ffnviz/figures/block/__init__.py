"""Words and charts of the whole block."""
