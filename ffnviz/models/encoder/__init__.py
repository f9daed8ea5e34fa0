"""Our own encoder: the equations in PyTorch, and its files."""
