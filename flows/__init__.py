"""Flow definitions: reading, writing and drawing them, and the samples that ship."""
