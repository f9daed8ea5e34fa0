"""Measurements for the page Sparsity."""
