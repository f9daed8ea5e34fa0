"""What goes into a wheel; all that can be said without code stands in pyproject.toml.

What Streamlit, Hugging Face and people look for at the top of the repository stays there. A wheel
has it as ffnviz/top, with the same names; ffnviz/models/config.py tells the rest of the code
which it is.
"""

from setuptools import find_namespace_packages, setup

setup(
    script_name="setup.py",  # what is not packed with the other .py at the top
    packages=[
        *find_namespace_packages(include=["ffnviz", "ffnviz.*"], exclude=["*.__pycache__"]),
        "ffnviz.top",
    ],
    package_dir={"ffnviz.top": "."},
    package_data={
        "": ["*.css", "*.html", "*.js", "*.json", "py.typed"],
        "ffnviz.top": [
            ".streamlit/config.toml",
            "assets/**/*",
            "pyproject.toml",  # in it Streamlit finds the components
        ],
    },
    exclude_package_data={"ffnviz.top": ["assets/journey.*"]},  # the readme's
)
