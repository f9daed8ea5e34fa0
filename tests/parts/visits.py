"""A visit without a browser: any page of the app, opened by a link."""

from pathlib import Path

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

APP = Path(__file__).parents[2] / "app.py"
TEXT = "It cost forty pounds."


def opened(page: str, **query: str) -> AppTest:
    """A page with these query parameters."""
    app = AppTest.from_file(str(APP), default_timeout=120)
    for name, value in {"text": TEXT, **query}.items():
        app.query_params[name] = value
    # AppTest can turn to files only; this is the hash st.navigation looks for.
    app._page_hash = calc_hash(page)
    app.run()
    return unbroken(app)


def unbroken(app: AppTest) -> AppTest:
    """The same, without a stack trace on it."""
    assert not app.exception
    return app


def query(app: AppTest) -> dict[str, str]:
    """The URL's parameters; AppTest gives each as a list."""
    return {k: v[-1] if isinstance(v, list) else v for k, v in app.query_params.items()}
