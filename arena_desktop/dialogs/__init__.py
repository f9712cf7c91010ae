"""Windows of their own: only where a decision is needed before the page can go on."""
