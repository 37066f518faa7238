"""Tests of the ESQL compiler."""
