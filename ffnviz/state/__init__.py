"""What is looked at, as one value that is also the URL, and what is computed for it."""
