"""The parts of the JSON domain: reading a document, showing it as a tree, writing a tree."""
