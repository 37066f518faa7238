"""The nodes: one file a node, named after it; importing the package registers them all."""
