"""A page that reads any sentence without a server: the networks themselves go along."""
