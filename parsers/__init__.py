"""The parsers: one file a domain or header; importing the package registers them all."""
