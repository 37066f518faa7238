"""The grammar of ESQL and the parser made from it."""
