"""The whole block: what each station hands on, what reads in turn, what a stack needs."""
