"""How the twins in assets/models are made: vocabulary, corpus, masking, loop, record."""
