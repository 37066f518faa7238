"""Flows as data: nodes with their properties, wires, and everything that can be said of them before they run."""
