"""Publish/subscribe: topics, subscriptions, retained publications, and their delivery to queues."""
