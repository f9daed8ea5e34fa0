"""What we draw: pure functions from arrays and words to plotly figures."""
