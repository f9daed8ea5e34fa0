"""The Streamlit page: navigation, header, controls, session, and what the lecture shows on it."""
