"""A small network trained in a minute of one core: what Learn and `ffnviz learn` show."""
