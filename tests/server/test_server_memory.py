"""What a server holds that it needs not: counted in modules and copies, which no load changes."""

import subprocess
import sys

WITHOUT = ("pandas", "pyarrow", "transformers", "ray", "redis")
VISIT = f"""
import sys
import ffnviz.cli
from streamlit.testing.v1 import AppTest
from ffnviz.server.streamlit_patches import apply_patches
from ffnviz.models.config import TOP
apply_patches()
page = AppTest.from_file(str(TOP / "app.py"), default_timeout=120).run()
assert not page.exception
print([name for name in {WITHOUT} if name in sys.modules])
"""


def test_a_page_loads_no_library_that_it_does_not_use() -> None:
    """Of these pandas and pyarrow alone hold 65 MB."""
    run = subprocess.run([sys.executable, "-c", VISIT], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
