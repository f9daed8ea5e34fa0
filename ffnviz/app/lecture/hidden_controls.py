"""What a link can have hidden of a page, for a course page that shows it in a frame."""

import streamlit as st

from ffnviz.state.view_options import ViewOptions

SELECTORS = {
    "pages": '[data-testid="stHeader"], .st-key-bar',
    "sentence": ".st-key-controls, .st-key-twin-and-block, .st-key-network-row",
    "network": ".st-key-twin-and-block, .st-key-network-row",
    "parts": '[class*="st-key-part-"]',
    "tokens": ".st-key-chips",
    "foot": '.st-key-foot, [class*="st-key-device-"]',
}


def hide(showing: ViewOptions) -> None:
    """Have the page without what is hidden; nothing of what the URL says gets into the style."""
    hidden = [SELECTORS[name] for name in showing.hide]
    more = (
        '[data-testid="stMainBlockContainer"] { padding-top: 0.5rem; }'
        if "pages" in showing.hide
        else ""
    )
    wide = (
        ".st-key-controls > .st-key-text { margin-right: 0; }" if "network" in showing.hide else ""
    )
    rules = f"{', '.join(hidden)} {{ display: none; }} {more} {wide}" if hidden else ""
    st.html(f"<style>{rules}</style>")
