"""What a project may run here."""
