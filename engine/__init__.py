"""The kernel: message trees, flows, wires and queues; it names no node, no ESQL function and no parser."""
