"""How it looks and reads: colours, wording, sentences; plotly figures where a page needs them."""
