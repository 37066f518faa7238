"""Headers of messages: MQ structures as tables of fields, and folders of names and values."""
