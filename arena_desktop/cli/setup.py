"""`new` and `doctor`: starting well."""

from __future__ import annotations

import argparse
from pathlib import Path

from arena_desktop.cli.output import out, print_json, say
from arena_desktop.cli.parser import EXIT_ERROR, EXIT_OK


def new(options: argparse.Namespace) -> int:
    """Makes a project folder from a kind of job."""
    from engine.new_project import create_project

    folder = create_project(Path(options.project), options.job, options.name)
    if options.json:
        print_json({"project": str(folder), "job": options.job})
        return EXIT_OK
    say(f"The project is in {folder}. It holds a few examples to replace with your own.", quiet=options.quiet)
    say(f"Next: arena-desktop check {folder}", quiet=options.quiet)
    return EXIT_OK


def doctor(options: argparse.Namespace) -> int:
    """Looks at this computer and prints every check with its fix; with `--probe` asks the connections."""
    from arena_desktop.desks.connections import OwnConnections
    from arena_desktop.desks.doctor_desk import examine
    from arena_desktop.settings import Settings
    from arena_desktop.wording.doctor import as_text
    from engine.doctor import State, worst
    from engine.keystore import KeyStore
    from engine.paths import settings_path, store_path
    from engine.project import load_project

    store = Path(options.store) if options.store else store_path()
    project = load_project(Path(options.project)) if options.project else None
    own = OwnConnections(Settings(settings_path())).list()
    findings = examine(KeyStore(), own, project, store, probe=options.probe)
    state = worst(findings)
    if options.json:
        rows = [
            {
                "id": item.id,
                "state": item.state,
                "code": item.code,
                "sentence": item.sentence,
                "fix": item.fix,
            }
            for item in findings
        ]
        print_json({"state": state, "checks": rows})
    else:
        out(as_text(findings))
    return EXIT_ERROR if state is State.FAIL else EXIT_OK
