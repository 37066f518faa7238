"""What compiled programs run with: activations, limits, the statements that need a library, and traces."""
