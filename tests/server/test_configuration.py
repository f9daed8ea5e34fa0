"""The server settings that were measured to matter; each check fails when its setting is lost."""

import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from streamlit import config
from streamlit.web import bootstrap

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"


def setting(name: str) -> Any:
    section, _, key = name.partition(".")
    return tomllib.loads(CONFIG.read_text(encoding="utf-8"))[section][key]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("runner.postScriptGC", False),  # a full collection after each run costs 70-115 ms
        ("runner.fastReruns", False),  # a new key would abort the page of the last one
        ("browser.gatherUsageStats", False),  # nothing leaves the machine
        ("logger.hideWelcomeMessage", True),  # it would ask another host for our address
        ("server.address", "localhost"),
        ("server.headless", True),
        ("server.fileWatcherType", "none"),  # what is installed does not change
        ("client.showErrorDetails", "none"),  # never a stack trace
        ("client.allowedOrigins", []),  # each of Streamlit's own would be tried on every message
        ("client.toolbarMode", "viewer"),  # the menu with the themes, without the developer's part
    ],
)
def test_the_setting_is_in_place_and_this_streamlit_knows_it(name: str, value: object) -> None:
    assert setting(name) == value
    # A hidden option could vanish with an update, and Streamlit would only log that.
    assert name in config.get_config_options(force_reparse=False)


def test_garbage_is_collected_after_each_run_unless_told_otherwise() -> None:
    option = config.get_config_options()["runner.postScriptGC"]
    assert option.default_val is True, "if the default is off by now, the setting can go"


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop is not for Windows")
def test_the_server_runs_on_uvloop() -> None:
    factory = bootstrap._get_uvloop_loop_factory()
    assert factory is not None
    loop = factory()
    try:
        assert type(loop).__module__.startswith("uvloop")
    finally:
        loop.close()
