"""The command line: every verb works with no display and imports no widget module.

One JSON document goes to standard output where `--json` asks for it; everything for people goes to
standard error. Exit codes are those of the reference in `parser`.
"""

from __future__ import annotations

from arena_desktop.cli.main import run_command_line

__all__ = ["run_command_line"]
