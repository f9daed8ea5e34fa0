"""Features of sparse autoencoders, shown as neurons are, and what the dictionary misses."""
