"""The pages. Each is one class that takes the context, shows what the desks say and holds selection only."""
