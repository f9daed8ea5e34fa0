"""Who counts: processes of this machine, or a Ray cluster. Each hands over parts, in any order."""
