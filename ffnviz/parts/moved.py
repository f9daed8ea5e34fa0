"""Where the content of former parts is: their names stand in links and lectures for ever."""

from ffnviz.state.state import Moved

# Former page and part: page and part now, and the settings that show it.
MOVED: Moved = {}
