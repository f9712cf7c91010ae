"""Checks: from an answer to a score with a reason."""
