"""Databases: sources and their pools, statements and their SQL, values both ways, units of work."""
