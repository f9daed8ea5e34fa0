"""Measurements for the page Neurons."""
