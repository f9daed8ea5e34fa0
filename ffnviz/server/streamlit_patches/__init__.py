"""All that reaches into Streamlit's private parts, a file a patch; any can be switched off.

What runs in the browser are functions of page_script.js, each a patch of its own. Each says what
it changes, why, what it gains, and for which versions of Streamlit. Its `check` says in a sentence
when Streamlit has changed under it; the page then goes on without it.
"""

import logging

from ffnviz.models.config import WITHOUT_PATCHES, config
from ffnviz.server.streamlit_patches.page_script import SCRIPTS
from ffnviz.server.streamlit_patches.patch import ALL, apply

AT_START = ("run_gate", "held_messages", "message_limits", "compressed_messages", "typing_pause")
LATER = ("page_script", "plotly_file", "open_sessions", "closed_sessions", "reconnected_text")
PATCHES = (*AT_START, *LATER)

log = logging.getLogger(__name__)


def apply_patches() -> None:
    """Apply what changes the server, before it starts."""
    known = {*PATCHES, *SCRIPTS, ALL}
    for name in config().without_patches:
        if name not in known:
            names = ", ".join(sorted(known))
            log.warning("%s: there is no patch “%s”. There are: %s.", WITHOUT_PATCHES, name, names)
    for name in AT_START:
        apply(name)
