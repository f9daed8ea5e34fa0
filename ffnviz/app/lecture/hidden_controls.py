"""What a link can have hidden of a page, for a course page that shows it in a frame."""

from ffnviz.state.view_options import ViewOptions

SELECTORS = {
    "pages": '[data-testid="stHeader"], [data-cell="bar"]',
    "sentence": '.st-key-text, [data-cell="examples"], [data-cell$="network"]',
    "network": '[data-cell$="network"]',
    "parts": '[data-cell="part-list"]',
    "tokens": '[data-cell="chips"]',
    "foot": '[data-cell="footer"]',
}


def style(showing: ViewOptions) -> str:
    """Rules that hide it; nothing of what the URL says gets into them."""
    hidden = [SELECTORS[name] for name in showing.hide]
    more = (
        '[data-testid="stMainBlockContainer"] { padding-top: 0.5rem; }'
        if "pages" in showing.hide
        else ""
    )
    wide = ".st-key-text { margin-right: 8rem; }" if "network" in showing.hide else ""
    return f"{', '.join(hidden)} {{ display: none !important; }} {more} {wide}" if hidden else ""
