"""Character sets: the codecs of CCSIDs, and conversion of messages between them."""
