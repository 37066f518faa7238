"""COBOL copybooks: their text, stage by stage, as records whose sizes and offsets are known."""
