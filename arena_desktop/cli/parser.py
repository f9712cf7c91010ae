"""The verbs, their options and their help. Wrong arguments exit with 1."""

from __future__ import annotations

import argparse
import math
from typing import NoReturn

from arena_desktop import __version__
from engine.errors import UserError

EXIT_OK = 0
EXIT_ERROR = 1
EXIT_FAIL_UNDER = 2
EXIT_STOPPED = 3
EXIT_INTERRUPTED = 130

JOBS = ("sort", "extract", "answer", "calculate", "write", "code", "match", "find")


class Parser(argparse.ArgumentParser):
    """An argument parser whose faults are faults of the user like all others: UserError `wrong_arguments`."""

    def error(self, message: str) -> NoReturn:
        usage = " ".join(self.format_usage().split())
        raise UserError("wrong_arguments", f"{self.prog}: {message}", hint=usage[:1].upper() + usage[1:])


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


# What argparse calls the type in its sentence.
_number.__name__ = "number"


def _comma_list(text: str) -> tuple[str, ...]:
    items = tuple(part.strip() for part in text.split(",") if part.strip())
    if not items:
        raise argparse.ArgumentTypeError("names separated by commas are expected")
    return items


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document on standard output")
    parser.add_argument("--quiet", action="store_true", help="print nothing but results and errors")
    parser.add_argument("--store", metavar="FILE", help="the SQLite file that keeps the runs")


def _selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--models", type=_comma_list, metavar="A,B", help="only these models, by key or id")
    parser.add_argument("--trials", type=int, metavar="N", help="ask every question N times")
    parser.add_argument("--concurrency", type=int, metavar="N", help="at most N questions at the same time")
    parser.add_argument("--ids", type=_comma_list, metavar="A,B", help="only these test cases")
    parser.add_argument("--tags", type=_comma_list, metavar="A,B", help="only cases with one of these tags")
    parser.add_argument("--exclude-tags", type=_comma_list, metavar="A,B", help="no case with one of these")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N test cases")


def _add_run(verbs: argparse._SubParsersAction[Parser]) -> None:
    run = verbs.add_parser("run", help="run a project and print its leaderboard")
    run.add_argument("project", metavar="PROJECT", help="the project folder or its config file")
    _selection(run)
    run.add_argument(
        "--dry-run", action="store_true", help="print the plan and what it would cost, then stop"
    )
    run.add_argument("--resume", metavar="RUN", help="carry on with an unfinished run: its id, or `last`")
    run.add_argument("--resume-from", choices=("snapshot", "new"), help="which settings to carry on with")
    run.add_argument(
        "--retry-errors", action="store_true", help="with --resume: ask again what failed for good, too"
    )
    run.add_argument("--fail-under", type=_number, metavar="X", help="exit 2 where the best score is below X")
    run.add_argument("--yes", action="store_true", help="do not ask about the cost")
    run.add_argument("--trust", action="store_true", help="allow the project's own code and secrets")
    run.add_argument(
        "--include-ruled-out", action="store_true", help="also ask models that break a must-have"
    )
    run.add_argument("--report", action="store_true", help="write a report to read in a browser")
    _common(run)


def _add_readers(verbs: argparse._SubParsersAction[Parser]) -> None:
    check = verbs.add_parser("check", help="say what is wrong with a project and what would run")
    check.add_argument("project", metavar="PROJECT")
    check.add_argument("--trust", action="store_true", help="allow the project's own code and secrets")
    _common(check)

    score = verbs.add_parser("score", help="try one check on one answer")
    score.add_argument(
        "--check", required=True, metavar="JSON_OR_FILE", help="the check as JSON, or its file"
    )
    score.add_argument("--answer", required=True, metavar="FILE", help="the answer; - for standard input")
    score.add_argument("--reference", metavar="TEXT_OR_FILE", help="the right answer")
    score.add_argument("--judge-reply", metavar="FILE", help="stands in for the judge model's answer")
    _common(score)

    verdict = verbs.add_parser("verdict", help="scores from elsewhere through the same statistics")
    verdict.add_argument("file", metavar="FILE", help="CSV or JSON rows: model, case, trial, score")
    verdict.add_argument(
        "--margin", type=_number, default=None, metavar="X", help="the gap that does not matter"
    )
    _common(verdict)

    runs = verbs.add_parser("runs", help="list the saved runs, newest first")
    runs.add_argument("--project", metavar="P", help="only the runs of this project")
    _common(runs)

    show = verbs.add_parser("show", help="print a saved run")
    show.add_argument("run", metavar="RUN", help="a run id or its beginning, or `last`")
    _common(show)


def _add_stored(verbs: argparse._SubParsersAction[Parser]) -> None:
    rescore = verbs.add_parser("rescore", help="new checks or weights on the answers of a saved run")
    rescore.add_argument("run", metavar="RUN", help="a run id or its beginning, or `last`")
    rescore.add_argument(
        "--project", metavar="P", help="the project folder (default: where the run came from)"
    )
    rescore.add_argument("--trust", action="store_true", help="allow the project's own checks")
    rescore.add_argument("--yes", action="store_true", help="yes to what asking the second AI costs")
    rescore.add_argument(
        "--no-judge", action="store_true", help="do not ask the second AI; its earlier marks stay"
    )
    _common(rescore)

    compare = verbs.add_parser("compare", help="two saved runs on the tests that both share")
    compare.add_argument("before", metavar="RUN", help="the earlier run: its id, or the beginning of it")
    compare.add_argument("after", metavar="RUN", help="the later run, or `last`")
    _common(compare)

    history = verbs.add_parser("history", help="how the models of a project did over its saved runs")
    history.add_argument("project", metavar="PROJECT", help="the project's folder or name")
    history.add_argument("--model", metavar="K", help="only this model, by its key")
    _common(history)


def _add_others(verbs: argparse._SubParsersAction[Parser]) -> None:
    new = verbs.add_parser("new", help="make a project from a kind of job")
    new.add_argument("project", metavar="PROJECT", help="the folder to make")
    new.add_argument("--job", required=True, choices=JOBS, help="what the AI should do")
    new.add_argument("--name", metavar="NAME", help="the project's name (default: the folder's)")
    _common(new)

    doctor = verbs.add_parser("doctor", help="look at this computer and say what to mend")
    doctor.add_argument("--project", metavar="PROJECT", help="also look at this project's connections")
    doctor.add_argument("--probe", action="store_true", help="also ask each connection whether it answers")
    _common(doctor)


def _add_keys(verbs: argparse._SubParsersAction[Parser]) -> None:
    keys = verbs.add_parser("keys", help="list, keep, remove and test access keys")
    actions: argparse._SubParsersAction[Parser] = keys.add_subparsers(
        dest="action", required=True, parser_class=Parser, metavar="ACTION"
    )
    rows = (
        ("list", "say for which connections a key is kept"),
        ("set", "keep a key; it is read from a prompt or from standard input"),
        ("remove", "remove the key of a connection"),
        ("test", "ask the service whether it takes the key"),
    )
    for name, help_text in rows:
        action = actions.add_parser(name, help=help_text)
        if name != "list":
            action.add_argument("connection", metavar="CONNECTION", help="a service such as openai, or an id")
            action.add_argument("--project", metavar="PROJECT", help="the project that has the connection")
        _common(action)


def build_parser() -> Parser:
    """Returns the parser of all verbs."""
    parser = Parser(
        prog="arena-desktop",
        description="Which AI model should I use for my job? With no arguments the window opens.",
    )
    parser.add_argument("--version", action="version", version=f"arena-desktop {__version__}")
    verbs: argparse._SubParsersAction[Parser] = parser.add_subparsers(
        dest="verb", required=True, parser_class=Parser, metavar="VERB"
    )
    _add_run(verbs)
    _add_readers(verbs)
    _add_stored(verbs)
    _add_others(verbs)
    _add_keys(verbs)
    return parser
