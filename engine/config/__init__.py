"""Project files: one reader, one schema, exact places for every fault."""
