"""The values of ESQL: their types, their literals, and the errors of what goes wrong with them."""
