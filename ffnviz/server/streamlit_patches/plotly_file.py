"""Changes: Streamlit serves the plotly.min.js of the installed plotly package beside our pictures.

Why: a package can declare files of its own alone. `ffnviz app` serves the file by a route of its
own, which the page's first script tells to charts; where that is missing, they ask here first.
Gains: under `streamlit run`, charts.
For: Streamlit 1.64 to 1.67.
"""

from pathlib import Path

import plotly
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest
from streamlit.runtime import exists

NAME = "ffnviz.plotly"  # as adapter.js asks for it


def check() -> None:
    """Whether a manifest is still taken; raises what Streamlit does."""
    _register(BidiComponentManager())


def apply() -> None:
    """Where a server runs, it serves the file."""
    if exists():
        _register(get_bidi_component_manager())


def _register(manager: BidiComponentManager) -> None:
    if manager.get_component_asset_root(NAME) is None:
        package, _, name = NAME.partition(".")
        files = [ComponentConfig(name=name, asset_dir="package_data")]
        manifest = ComponentManifest(package, plotly.__version__, files)
        manager.register_from_manifest(manifest, Path(plotly.__file__).parent)
