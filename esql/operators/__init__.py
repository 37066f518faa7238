"""The operators of ESQL over values: what emitted code calls where it does not know better."""
