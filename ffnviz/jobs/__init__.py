"""Work that takes long: the queue of page runs, the process pool, progress, cancel, indexing."""
