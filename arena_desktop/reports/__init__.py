"""Reports to send: built from stored runs, always light, no scripts, no outside links."""
