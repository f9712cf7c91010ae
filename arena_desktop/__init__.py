"""The Qt front end and the command line of Agent Arena Desktop."""

__version__ = "0.1.0"
