"""The ASGI application, its headers, metrics, processes, and our patches of Streamlit."""
