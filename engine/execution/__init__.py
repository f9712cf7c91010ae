"""Planning and running: what may start now, and what became of it."""
