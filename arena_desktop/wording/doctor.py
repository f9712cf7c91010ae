"""The checks of this computer in words for the screen: what was looked at, and how it stands."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from engine.doctor import Finding, State


def _tr(text: str) -> str:
    return QCoreApplication.translate("Doctor", text)


def finding_title(finding: Finding) -> str:
    """What was looked at."""
    kind, _, name = finding.id.partition(":")
    titles = {
        "python": _tr("Python"),
        "packages": _tr("Parts of the program"),
        "display": _tr("Screen"),
        "home": _tr("Folder for runs and settings"),
        "key_store": _tr("Place for access keys"),
        "store": _tr("Saved runs"),
        "keys": _tr("Access keys"),
    }
    if kind == "connection":
        return _tr("Access key of {name}").format(name=name)
    if kind == "reachable":
        return _tr("{name} answers").format(name=name)
    return titles.get(kind, finding.id)


def state_chip(state: State) -> tuple[str, str]:
    """Word and tone of a state."""
    chips = {
        State.OK: (_tr("Fine"), "good"),
        State.WARN: (_tr("Look at this"), "warn"),
        State.FAIL: (_tr("To mend"), "bad"),
    }
    return chips[state]


def summary(findings: list[Finding]) -> str:
    """All of it in one sentence."""
    failed = sum(finding.state is State.FAIL for finding in findings)
    if failed == 1:
        return _tr("One thing needs mending.")
    if failed:
        return _tr("{count} things need mending.").format(count=failed)
    if any(finding.state is State.WARN for finding in findings):
        return _tr("Everything needed is there. Some things could be better.")
    return _tr("Everything is fine.")


def as_text(findings: list[Finding]) -> str:
    """All findings as plain text, for copying."""
    lines = []
    for finding in findings:
        lines.append(f"{finding.state.value:5} {finding.sentence}")
        if finding.fix and finding.state is not State.OK:
            lines.append(f"      {finding.fix}")
    return "\n".join(lines)
