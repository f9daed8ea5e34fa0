"""Measurements for the page Dimensions."""
