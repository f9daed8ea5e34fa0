"""The lecture: scenes, each a State and words; presenting them; a class that follows."""
