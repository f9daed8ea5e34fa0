"""What the page shows of a lecture: the scenes, one's own draft, a class."""
