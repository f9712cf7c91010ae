"""`keys list | set | remove | test`: access keys without a window. A key is never an argument or output."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from pathlib import Path

from arena_desktop.cli.output import out, print_json, say, table
from arena_desktop.cli.parser import EXIT_ERROR, EXIT_OK
from arena_desktop.desks.connections import KnownConnection, OwnConnections, all_connections, known
from arena_desktop.desks.key_desk import check_place
from arena_desktop.settings import Settings
from arena_desktop.wording.connections import service_facts
from arena_desktop.wording.keys import answer_words, shape_hint
from engine.config.schema import Connection
from engine.errors import UserError, WorldError
from engine.key_text import clean_pasted_key, guess_vendor
from engine.keystore import KeyStore
from engine.paths import settings_path
from providers.registry import KINDS, canonical_kind

_MOST = 100_000


def keys(options: argparse.Namespace) -> int:
    """Does what `keys ACTION` says."""
    actions = {"list": _list, "set": _set, "remove": _remove, "test": _test}
    return actions[options.action](options)


def connection_named(name: str, project: Path | None) -> KnownConnection:
    """The connection a word means: one of a project, one of the person's, or a kind.

    Raises UserError `unknown_connection`, and the errors of opening the project.
    """
    from engine.project import load_project

    opened = load_project(project) if project is not None else None
    listed = all_connections(OwnConnections(Settings(settings_path())), opened)
    kind = canonical_kind(name)
    wanted = [place for place in listed if name in (place.connection.id, place.holder)]
    # A project's own goes before a vendor of the same name.
    found = next((place for place in wanted if place.origin == "project"), wanted[0] if wanted else None)
    found = found or next((place for place in listed if kind and place.connection.id == kind), None)
    if found is not None:
        return found
    if kind and KINDS[kind].default_base_url:
        return known(Connection(id=kind, kind=kind), "own", KINDS[kind].title)
    names = ", ".join(place.connection.id for place in listed)
    raise UserError(
        "unknown_connection",
        f"There is no connection called {name}.",
        hint=f"Use one of: {names}. For a project's own connection add --project FOLDER.",
    )


def _list(options: argparse.Namespace) -> int:
    store = KeyStore()
    choice = store.choice()
    entries = store.entries()
    variables = [
        (name, info.host or "")
        for info in KINDS.values()
        for name in info.key_env
        if os.environ.get(name, "").strip()
    ]
    if options.json:
        print_json(
            {
                "keys": [
                    {"connection": e.connection, "host": e.host, "where": e.where, "kept_at": e.kept_at}
                    for e in entries
                ],
                "environment": [{"name": name, "host": host} for name, host in variables],
                "store": {"name": choice.name, "code": choice.code, "sentence": choice.sentence},
            }
        )
        return EXIT_OK
    rows = [(e.connection, e.host, "key store", e.kept_at[:10]) for e in entries]
    rows += [("", host, f"variable {name}", "") for name, host in variables]
    if rows:
        out(table([("Connection", "For the host", "From", "Since"), *rows]))
    else:
        say("No key is kept, and no variable of a vendor is set.", quiet=options.quiet)
    say(choice.sentence, quiet=options.quiet)
    return EXIT_OK


def _set(options: argparse.Namespace) -> int:
    place = connection_named(options.connection, _project(options))
    if place.elsewhere:
        raise UserError(
            "key_from_elsewhere",
            f"The project takes the key of {place.connection.id} from elsewhere ({place.elsewhere}).",
            hint="Set that variable or file, or take api_key_ref out of the project.",
        )
    store = KeyStore()
    choice = store.choice()
    if choice.backend is None:
        # Kept for this session would mean: gone when this command ends.
        raise WorldError(choice.code, choice.sentence, hint=choice.fix)
    text = _read_key(place)
    kind, cleaned = place.connection.kind, clean_pasted_key(text)[0]
    starts = service_facts(kind, place.host).starts
    _tone, hint = shape_hint(kind, guess_vendor(cleaned), starts, cleaned)
    if hint:
        say(hint, quiet=options.quiet)
    holder = Connection(id=place.holder, kind=kind, base_url=place.address or None)
    result = store.store(holder, text)
    if not result.ok:
        raise WorldError(result.code, result.sentence, hint=result.fix)
    if options.json:
        document = {"connection": place.holder, "host": place.host, "where": result.where}
        print_json({**document, "hint": hint or None})
        return EXIT_OK
    say(f"{result.sentence} {choice.sentence}", quiet=options.quiet)
    say(f"Next: arena-desktop keys test {options.connection}", quiet=options.quiet)
    return EXIT_OK


def _remove(options: argparse.Namespace) -> int:
    place = connection_named(options.connection, _project(options))
    store = KeyStore()
    hosts = [place.host] if options.project else list(store.kept_hosts(place.holder))
    for host in hosts:
        result = store.remove(place.holder, host)
        if not result.ok:
            raise WorldError(result.code, result.sentence, hint=result.fix)
    if options.json:
        print_json({"connection": place.holder, "removed": hosts})
    elif hosts:
        say(f"The key of {place.holder} for {', '.join(hosts)} is removed.", quiet=options.quiet)
    else:
        say(f"No key is kept for {place.holder}.", quiet=options.quiet)
    return EXIT_OK


def _test(options: argparse.Namespace) -> int:
    place = connection_named(options.connection, _project(options))
    found = check_place(KeyStore(), place)
    answer = answer_words(found, place.title, kind=place.connection.kind)
    sentence = f"{answer.first} {answer.text}".strip()
    if options.json:
        print_json(
            {
                "connection": place.connection.id,
                "host": found.host,
                "ok": found.ok,
                "code": found.code,
                "sentence": sentence,
                "detail": found.detail or None,
                "models": len(found.models) if found.ok else None,
            }
        )
    else:
        out(sentence)
        if found.detail and not found.ok and found.detail not in sentence:
            say(found.detail, quiet=options.quiet)
    return EXIT_OK if found.ok else EXIT_ERROR


def _project(options: argparse.Namespace) -> Path | None:
    return Path(options.project) if options.project else None


def _read_key(place: KnownConnection) -> str:
    """From a prompt that shows nothing, or from standard input where that is no terminal."""
    if sys.stdin.isatty():
        return getpass.getpass(f"Access key for {place.title} ({place.host}), not shown: ")
    return sys.stdin.read(_MOST)
