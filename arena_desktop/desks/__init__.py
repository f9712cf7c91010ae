"""What pages share: the open project, the run under way, the saved runs. State and signals, no widgets."""
