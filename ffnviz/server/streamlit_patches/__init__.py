"""What is changed in Streamlit, a file a patch."""
