"""Costs of flows: benchmarks side by side with programs written by hand for the same work."""
