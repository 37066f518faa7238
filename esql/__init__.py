"""ESQL, from text to code."""
