"""Pictures drawn in place: small Streamlit v2 components, each beside its .js and .css."""
