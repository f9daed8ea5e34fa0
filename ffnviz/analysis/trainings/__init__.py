"""What many small trainings say: their table, and pairs of them that share a seed."""
