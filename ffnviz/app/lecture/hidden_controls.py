"""The controls that a link can hide, for a course page that shows ours in a frame."""

from ffnviz.state.view_options import ViewOptions

SELECTORS = {
    "pages": '[data-testid="stHeader"], [data-cell="bar"]',
    "sentence": '.st-key-text, [data-cell="examples"], [data-cell$="network"]',
    "network": '[data-cell$="network"]',
    "parts": '[data-cell="part-list"]',
    "tokens": '[data-cell="chips"]',
    "foot": '[data-cell="footer"]',
}


RULES = {  # that a hidden control calls for besides
    "pages": '[data-testid="stMainBlockContainer"] { padding-top: 0.5rem; }',
    "network": ".st-key-text { margin-right: 8rem; }",
}


def style(options: ViewOptions) -> str:
    """The CSS that hides them; none of the URL's text gets into it."""
    if not options.hide:
        return ""
    hidden = ", ".join(SELECTORS[name] for name in options.hide)
    rules = (RULES[name] for name in options.hide if name in RULES)
    return " ".join([f"{hidden} {{ display: none !important; }}", *rules])
