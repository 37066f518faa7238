"""Tests of brokers, through their commands."""
