"""Message sets from YAML files, and back: reader, writer, the schema that editors use."""
