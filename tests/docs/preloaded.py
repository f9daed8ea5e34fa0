"""What commands would read anew each time: read once by the server that they are forked from."""

import os

from ffnviz.training.learn.text import text_read

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # no threads before a fork
text_read()
