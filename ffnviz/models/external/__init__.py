"""Other people's networks: watched once, proved, then seen through the same protocol as ours.

No family of networks is named anywhere in here. One probe passes through the unmodified modules,
each role in a block is found from the values that flow, and five equations are proved for every
block. What cannot be proved is refused.
"""
