"""Runs one verb: errors become sentences and exit code 1, everything else is the verb's own code."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module

from arena_desktop.cli.output import print_error, say
from arena_desktop.cli.parser import EXIT_ERROR, EXIT_INTERRUPTED, build_parser
from engine.errors import ArenaError, Cancelled, WorldError
from engine.redact import redact
from providers.heavy_import import heavy_import

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


def _usable_streams() -> None:
    """Names and answers are text of the whole world; a console in another encoding gets escapes.

    A stream that the caller has closed is one that nobody reads, and its number must not go to the
    next file that is opened.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for good
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def run_command_line(arguments: Sequence[str]) -> int:
    """Runs the verb that `arguments` name and returns the exit code."""
    _usable_streams()
    try:
        options = build_parser().parse_args(arguments)
        module, function = VERBS[options.verb]
        with heavy_import():
            verb: Callable[[argparse.Namespace], int] = getattr(import_module(module), function)
        code = verb(options)
        sys.stdout.flush()
        return code
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else EXIT_ERROR
    except (Cancelled, KeyboardInterrupt):
        say("Stopped.")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _nobody_listens()
    except Exception as error:  # whatever it was ends in one document and one code
        _report(_as_fault(error), "--json" in arguments)
    return EXIT_ERROR


def _report(fault: ArenaError, as_json: bool) -> None:
    try:
        print_error(fault, as_json)
        sys.stdout.flush()
    except OSError:
        _nobody_listens()


def _nobody_listens() -> None:
    """Nobody takes what is printed (`| head` has gone, the disk is full): it must not fail once more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


def _as_fault(error: Exception) -> ArenaError:
    """What went wrong as a sentence; a fault of this program also says where, without secrets."""
    if isinstance(error, ArenaError):
        return error
    if isinstance(error, OSError):
        where = f" ({error.filename})" if error.filename else ""
        return WorldError(
            "system_error",
            f"The system refused something that was needed: {error.strerror or error}{where}.",
            hint="Check the disk, the rights and the names; `arena-desktop doctor` looks at the usual ones.",
        )
    say(redact("".join(traceback.format_exception(error))))
    return ArenaError(
        "program_fault",
        f"The program has a fault here: {type(error).__name__}. What is stored is kept.",
        hint="The lines above say where; please report them.",
    )
