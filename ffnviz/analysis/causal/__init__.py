"""Interventions that answer why: what a part of a network does, by changing it."""
