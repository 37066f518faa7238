"""The broker: flows deployed into execution groups, their processes, and the repository that knows what runs."""
