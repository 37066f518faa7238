"""The text of programs, and texts with expressions in them."""
