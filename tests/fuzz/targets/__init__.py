"""Targets: what is fuzzed. Each module here has TARGETS, a tuple of Target, and is found by being here."""
