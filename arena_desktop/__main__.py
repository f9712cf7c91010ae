"""`python -m arena_desktop`: the window without arguments, the command line with them."""

from __future__ import annotations

import os
import sys


def main(argv: list[str] | None = None) -> int:
    """Starts what the arguments ask for and returns the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    if arguments[:1] == ["--builtin-server"]:
        # A frozen program starts the server of a small model as another copy of itself.
        from providers.builtin_server import main as serve

        serve()
        return 0
    if arguments[:1] == ["--self-test"]:
        from arena_desktop.self_test import main as try_everything

        return try_everything(arguments[1:])
    # The statistics are many small products: threads of the linear algebra only get in their way.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if not arguments or arguments[0] == "window":
        from providers.heavy_import import heavy_import

        with heavy_import():
            from arena_desktop.app import run_window
        return run_window(arguments[1:])
    from arena_desktop.cli import run_command_line

    return run_command_line(arguments)


if __name__ == "__main__":
    sys.exit(main())
