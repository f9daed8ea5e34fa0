"""The least a Streamlit page with PyTorch can be: it imports torch and says so."""

import streamlit as st
import torch

st.write(f"PyTorch {torch.__version__} is there")
