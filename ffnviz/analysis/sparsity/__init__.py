"""Measurements for the page Activation."""
