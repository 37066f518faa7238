"""Fuzzing: readers and writers given what was mutated or generated, and what has come of it, kept as tests."""
