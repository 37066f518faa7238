"""The run time of compiled programs: activations, limits, statements that need a library, and traces."""
