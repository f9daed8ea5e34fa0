"""Sparsity: what the page of this idea measures."""
