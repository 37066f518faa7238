"""Flows over message sets on Apache Spark."""
