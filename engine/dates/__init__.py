"""Dates and times as text, by patterns: as ESQL's FORMAT and message sets spell them."""
