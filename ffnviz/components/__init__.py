"""What plotly cannot draw: small Streamlit v2 components, each beside its .js and .css."""
