"""Connectors to AI services. Plain Python: no Qt, no engine. Importing this loads no vendor SDK."""
