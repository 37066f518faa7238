"""Importers: data descriptions in other languages as message sets."""
