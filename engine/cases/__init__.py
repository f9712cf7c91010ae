"""Test cases: files of every kind in, `Case` records and all problems out."""
