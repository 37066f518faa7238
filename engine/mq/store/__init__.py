"""The store of a queue manager: messages that last, and the indexes that find them."""
