"""Exercises: right answers, and what common mistakes would give, all computed."""
