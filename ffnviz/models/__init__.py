"""Networks: the protocol they are seen through, our own encoder, other people's, the registry."""
