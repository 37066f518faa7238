"""What the JSON domain is made of: reading a document, showing it as a tree, writing a tree."""
