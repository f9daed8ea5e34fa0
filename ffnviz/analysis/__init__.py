"""What we measure: pure functions from a trace to small frozen results of arrays."""
