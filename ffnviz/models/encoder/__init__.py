"""What runs: the equations in PyTorch. Knows nothing of plots or pages."""
