"""A class that follows a lecture: no accounts, no names, and gone when it is over."""
