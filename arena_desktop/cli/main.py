"""Runs one verb: errors become sentences and exit code 1, everything else is the verb's own code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from arena_desktop.cli.output import print_error, say
from arena_desktop.cli.parser import EXIT_ERROR, EXIT_INTERRUPTED, build_parser
from engine.errors import ArenaError, Cancelled

# verb -> module and function, imported only when the verb is called
VERBS = {
    "run": ("arena_desktop.cli.run", "run"),
    "check": ("arena_desktop.cli.check", "check"),
    "score": ("arena_desktop.cli.trial", "score"),
    "verdict": ("arena_desktop.cli.trial", "verdict"),
    "runs": ("arena_desktop.cli.saved", "runs"),
    "show": ("arena_desktop.cli.saved", "show"),
    "rescore": ("arena_desktop.cli.rescore", "rescore_run"),
    "compare": ("arena_desktop.cli.compare", "compare"),
    "history": ("arena_desktop.cli.history", "history"),
    "new": ("arena_desktop.cli.setup", "new"),
    "keys": ("arena_desktop.cli.keys", "keys"),
    "doctor": ("arena_desktop.cli.setup", "doctor"),
}


def _utf8_streams() -> None:
    """Names and answers are text of the whole world; a console in another encoding gets escapes."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def run_command_line(arguments: Sequence[str]) -> int:
    """Runs the verb that `arguments` name and returns the exit code."""
    _utf8_streams()
    try:
        options = build_parser().parse_args(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else EXIT_ERROR
    module, function = VERBS[options.verb]
    verb: Callable[[argparse.Namespace], int] = getattr(import_module(module), function)
    try:
        return verb(options)
    except Cancelled:
        say("Stopped.")
        return EXIT_INTERRUPTED
    except ArenaError as error:
        print_error(error, options.json)
        return EXIT_ERROR
    except KeyboardInterrupt:
        say("Stopped.")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe (`| head`) has gone; there is nobody left to tell.
        sys.stderr.close()
        return EXIT_ERROR
