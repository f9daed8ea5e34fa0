"""What pictures are given and may ask for; adapter/ hangs them into Streamlit."""
