"""Counting a corpus, in processes of this machine or on a Ray cluster."""
