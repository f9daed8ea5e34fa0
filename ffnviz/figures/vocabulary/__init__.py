"""Vocabulary: what the page of this idea draws."""
