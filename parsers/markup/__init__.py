"""XML in its three domains: reading with lxml, patching what was read, rendering what is new."""
