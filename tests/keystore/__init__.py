"""Where keys are kept and where they may go."""
