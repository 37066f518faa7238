"""ESQL, from text to Python code objects."""
