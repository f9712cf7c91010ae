"""Writes how answers are marked into a project's files: for all tests, or for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from yaml.nodes import MappingNode, Node, SequenceNode

from arena_desktop.desks.own_marks import OWN_KEYS, without_own_checks
from arena_desktop.desks.project_files import Written, take_back
from arena_desktop.desks.project_settings import config_text
from arena_desktop.desks.project_tests import can_reach, file_of, place_of
from engine.cases.checks import project_checks
from engine.cases.fields import NAMES
from engine.config.saving import save_text
from engine.config.spans import find
from engine.config.splice import add_item, remove, set_value
from engine.config.text_files import TextFile
from engine.config.values import pairs, to_value
from engine.config.yaml_text import compose
from engine.domain import Case, CheckSpec
from engine.errors import ArenaError
from engine.project import Project
from engine.scoring.registry import CHECKS, canonical_check

Path = tuple[str | int, ...]
TYPE_NAMES = ("type", "check", "eval_type", "evaluator", "scorer")
_NESTED = ("params", "options")
_SPELLINGS = {"not": ("not", "negate"), "reference": ("reference", "expected"), "type": TYPE_NAMES}


@dataclass(frozen=True, slots=True)
class CheckChoice:
    """A check as it shall be. `origin` is its place in the list before, None = it is new."""

    spec: CheckSpec
    origin: int | None = None


def usual_checks(project: Project) -> tuple[CheckSpec, ...]:
    """How a test is marked that says nothing about it."""
    scorers = project.config.scorers
    return project_checks(scorers.checks) or (CheckSpec(scorers.default),)


def differs(before: Sequence[CheckSpec], choices: Sequence[CheckChoice]) -> bool:
    """Whether the choices are anything else than what was there."""
    return [choice.spec for choice in choices] != list(before)


def change_usual_checks(
    project: Project, choices: Sequence[CheckChoice], forget: Sequence[Case] = ()
) -> Written:
    """Marks all tests without a way of their own so; the tests of `forget` lose theirs and follow.

    A single plain check goes to `scorers.default` and `scorers.options`; several, or one that must pass,
    is turned around or has a right answer of its own, to `scorers.checks`.

    Raises:
        UserError: `changed_on_disk`, `test_moved`, `splice_refused`, `splice_no_place`, `not_encodable`.
        WorldError: a file cannot be read or written.
    """
    file = config_text(project)
    text = _Text(file)
    before = usual_checks(project)
    if project.config.scorers.checks:
        text.change_list(("scorers", "checks"), before, choices)
    elif len(choices) == 1 and _is_plain(choices[0].spec) and not _shared(project, choices[0].spec, forget):
        text.change_default(before[0], choices[0].spec)
    elif differs(before, choices):
        text.set(("scorers", "checks"), [as_written(choice.spec) for choice in choices])
    return _save([(file, text.text), *without_own_checks(project, forget)])


def _save(files: Sequence[tuple[TextFile, str]]) -> Written:
    """Writes several files as one step: all of them, or none."""
    done: list[Written] = []
    try:
        done += (Written(save_text(file, text), file.text) for file, text in files)
    except ArenaError:
        for written in reversed(done):
            take_back(written)
        raise
    first, *others = done
    return Written(first.file, first.before, tuple(others))


def change_test_checks(project: Project, case: Case, choices: Sequence[CheckChoice] | None) -> Written:
    """Marks one test so; None = as the project says.

    Raises:
        UserError, WorldError: as `change_usual_checks`.
    """
    file = file_of(project, case)
    text = _Text(file)
    place = place_of(compose(text.text, file.path.name), case)
    if choices is None:
        for name in sorted(OWN_KEYS):
            text.drop((*place, name))
    else:
        text.change_own(place, case.checks, choices)
    return Written(save_text(file, text.text), file.text)


def can_change_checks(case: Case) -> bool:
    """Whether the way one test is marked can be written here."""
    return can_reach(case)


def as_written(spec: CheckSpec) -> dict[str, Any]:
    """A check as a block of a file, without what is as usual."""
    return {"type": spec.type, **_common(spec), **spec.options}


def _common(spec: CheckSpec) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if spec.weight != 1:
        found["weight"] = int(spec.weight) if spec.weight == int(spec.weight) else spec.weight
    if spec.must_pass:
        found["must_pass"] = True
    if spec.negate:
        found["not"] = True
    if spec.reference is not None:
        found["reference"] = spec.reference
    return found


def _is_plain(spec: CheckSpec) -> bool:
    return not _common(spec)


def _shared(project: Project, spec: CheckSpec, forget: Sequence[Case]) -> bool:
    """Whether other tests, which keep their own checks, would feel the options of this one."""
    kind, lost = canonical_check(spec.type), {case.id for case in forget}
    own = (case for case in project.all_cases if case.own_checks and case.id not in lost)
    return bool(spec.options) and any(
        canonical_check(check.type) == kind for case in own for check in case.checks
    )


class _Text:
    """The text of a file while it is changed, one value after the other."""

    def __init__(self, file: TextFile) -> None:
        self.text, self._name = file.text, file.path.name

    def set(self, path: Path, value: Any) -> None:
        """Writes a value."""
        self.text = set_value(compose(self.text, self._name), path, value)

    def drop(self, path: Path) -> None:
        """Takes away what is there."""
        document = compose(self.text, self._name)
        if find(document.root, path) is not None:
            self.text = remove(document, path)

    def node(self, path: Path) -> Node | None:
        """What stands at a path."""
        spot = find(compose(self.text, self._name).root, path)
        return None if spot is None else spot.node

    def keys(self, path: Path) -> set[str]:
        """The names written in the block at a path."""
        node = self.node(path)
        return {key.value for key, _value in pairs(node)} if isinstance(node, MappingNode) else set()

    def name(self, path: Path, names: Sequence[str]) -> str:
        """The name under which the block at a path has something, else its usual name."""
        there = self.keys(path)
        return next((name for name in names if name in there), names[0])

    # ---- the check of a project

    def change_default(self, before: CheckSpec, after: CheckSpec) -> None:
        """One check by its name, its options beside it for all tests."""
        if after.type != before.type:
            self.set(("scorers", "default"), after.type)
        kind = CHECKS.get(canonical_check(after.type) or "")
        names = (after.type,) if kind is None else (kind.name, *kind.aliases)
        block = self.name(("scorers", "options"), names)
        spellings = {} if kind is None else {option.name: option for option in kind.options}
        for name, value in after.options.items():
            option = spellings.get(name)
            known = (name,) if option is None else (option.name, *option.aliases)
            place = ("scorers", "options", block)
            path = (*place, self.name(place, known))
            if value is None:
                self.drop(path)
            else:
                self.set(path, value)

    # ---- lists

    def change_list(self, path: Path, before: Sequence[CheckSpec], choices: Sequence[CheckChoice]) -> None:
        """Changes, takes out, adds and orders the checks of a list, each where it stands."""
        node = self.node(path)
        if not isinstance(node, SequenceNode) or len(node.value) != len(before):
            self.set(path, [as_written(choice.spec) for choice in choices])
            return
        for choice in choices:
            if choice.origin is not None:
                self.change_item((*path, choice.origin), before[choice.origin], choice.spec)
        kept = [choice.origin for choice in choices if choice.origin is not None]
        if kept == sorted(kept) and all(choice.origin is None for choice in choices[len(kept) :]):
            for number in sorted(set(range(len(before))) - set(kept), reverse=True):
                self.drop((*path, number))
            for choice in choices[len(kept) :]:
                self.text = add_item(compose(self.text, self._name), path, as_written(choice.spec))
            return
        written = to_value(self.node(path))
        self.set(
            path,
            [as_written(c.spec) if c.origin is None else written[c.origin] for c in choices],
        )

    def change_item(self, path: Path, before: CheckSpec, after: CheckSpec) -> None:
        """One check of a list."""
        if after == before:
            return
        if not isinstance(self.node(path), MappingNode):
            self.set(path, as_written(after))
            return
        if after.type != before.type:
            self.set((*path, self.name(path, _SPELLINGS["type"])), after.type)
        self._change_fields(path, before, after)

    def _change_fields(self, path: Path, before: CheckSpec, after: CheckSpec) -> None:
        old, new = {**_common(before), **before.options}, {**_common(after), **after.options}
        for name in dict.fromkeys((*old, *new)):
            if name in old and name in new and old[name] == new[name]:
                continue
            place = next((p for p in (path, *((*path, n) for n in _NESTED)) if self._has(p, name)), path)
            found = (*place, self.name(place, _SPELLINGS.get(name, (name,))))
            if name in new:
                self.set(found, new[name])
            else:
                self.drop(found)

    def _has(self, path: Path, name: str) -> bool:
        return bool(self.keys(path) & set(_SPELLINGS.get(name, (name,))))

    # ---- the checks of one test

    def change_own(self, place: Path, before: Sequence[CheckSpec], choices: Sequence[CheckChoice]) -> None:
        """Those of a test, in the form that it has them in."""
        there = self.keys(place)
        single = next((name for name in NAMES["eval_type"] if name in there), None)
        if "checks" in there and single is None and not there & set(NAMES["params"]):
            self.change_list((*place, "checks"), before, choices)
            return
        if single and "checks" not in there and len(choices) == 1 and choices[0].origin == 0:
            after = choices[0].spec
            if after.type != before[0].type:
                self.set((*place, single), after.type)
            self._change_fields((*place, self.name(place, NAMES["params"])), before[0], after)
            return
        for name in sorted(OWN_KEYS):
            if name != "checks":
                self.drop((*place, name))
        self.set((*place, "checks"), [as_written(choice.spec) for choice in choices])
