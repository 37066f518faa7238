"""The text of programs: its source, its problems, and the places of its statements."""
