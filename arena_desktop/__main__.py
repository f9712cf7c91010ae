"""`python -m arena_desktop`: the window without arguments, the command line with them."""

from __future__ import annotations

import sys


def main(argv: list[str] | None = None) -> int:
    """Starts what the arguments ask for and returns the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    if not arguments or arguments[0] == "window":
        from arena_desktop.app import run_window

        return run_window(arguments[1:])
    from arena_desktop.cli import run_command_line

    return run_command_line(arguments)


if __name__ == "__main__":
    sys.exit(main())
