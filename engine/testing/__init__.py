"""Tests of flows: files of cases beside flow files, run, judged and reported."""
