"""Pages to take home: one file or notebook cell, with pictures that need no server."""
