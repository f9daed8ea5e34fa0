"""External networks: watched once, proved, then used through the same protocol as our own.

No family of networks is named anywhere in here. One probe passes through the unmodified modules,
each role in a block is found from the values that flow, and five equations are proved for every
block. A network that cannot be proved is refused.
"""
