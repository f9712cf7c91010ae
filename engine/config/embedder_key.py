"""How a model that makes embeddings is called among the models, lanes and payers of a run."""

PREFIX = "embeddings: "
"""Begins its key, in words that no model is called by."""


def is_embedder(key: str) -> bool:
    """Whether a key is that of a model that makes embeddings for checks."""
    return key.startswith(PREFIX)
