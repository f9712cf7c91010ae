"""Windows that ask before spending, losing data, or stopping."""
