"""The front door: Streamlit runs this file anew for each visit and change; the app is a package."""

from ffnviz.app.main import main

main()
