"""`new` and `doctor`: starting well."""

from __future__ import annotations

import argparse
from pathlib import Path

from arena_desktop.cli.output import print_json, say
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
    """Looks at this computer and prints every check with its fix."""
    from engine.doctor import State, diagnose, worst
    from engine.keystore import KeyStore
    from engine.paths import store_path
    from engine.project import load_project
    from engine.storage.store import check_store

    path = Path(options.store) if options.store else store_path()
    project = load_project(Path(options.project)) if options.project else None
    connections = []
    if project is not None:
        used = {entry.provider: entry for entry in project.config.models if entry.enabled}
        connections = [(item, used.get(item.id)) for item in project.config.connections]
    findings = diagnose(
        keystore=KeyStore(),
        connections=connections,
        root=project.root if project else None,
        check_store=lambda: check_store(path),
    )
    state = worst(findings)
    if options.json:
        print_json(
            {
                "state": state,
                "checks": [
                    {
                        "id": item.id,
                        "state": item.state,
                        "code": item.code,
                        "sentence": item.sentence,
                        "fix": item.fix,
                    }
                    for item in findings
                ],
            }
        )
    else:
        for item in findings:
            print(f"{item.state.value:5} {item.sentence}")
            if item.fix and item.state is not State.OK:
                print(f"      {item.fix}")
    return EXIT_ERROR if state is State.FAIL else EXIT_OK
