"""Adds chosen models to a project's config, with the connections they need; all other text stays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from arena_desktop.desks.project_files import Written
from engine.config.saving import save_text
from engine.config.schema import Connection, ModelEntry
from engine.config.splice import add_item, add_key
from engine.config.text_files import read_text
from engine.config.values import pairs
from engine.config.yaml_text import MAX_BYTES, Document, compose
from engine.errors import UserError
from engine.project import Project
from providers.registry import canonical_kind


def entries_for(project: Project | None, wanted: Iterable[tuple[str, str, str]]) -> tuple[ModelEntry, ...]:
    """Entries with keys that nothing in the project has yet.

    Args:
        wanted: (model, connection id, title) of each.
    """
    taken = {entry.key for entry in project.config.models} if project is not None else set()
    found = []
    for model, provider, title in wanted:
        key, number = model, 1
        while key in taken:
            number += 1
            key = f"{model}-{number}"
        taken.add(key)
        found.append(ModelEntry(model=model, key=key, provider=provider, label=title))
    return tuple(found)


def add_models_to_project(
    project: Project, entries: Sequence[ModelEntry], connections: Iterable[Connection] = ()
) -> Written:
    """Writes the entries, and of `connections` those the project does not have, into its config file.

    Nothing is written when any part of it cannot be.

    Raises:
        UserError: `splice_refused`, `splice_no_place`, `changed_on_disk`, `not_encodable`.
        WorldError: the file cannot be read or written.
    """
    file = read_text(project.config_file, project.config_file.name, MAX_BYTES)
    if file.digest != project.digest:
        raise UserError(
            "changed_on_disk",
            f"{file.path.name} was changed by another program since it was opened.",
            hint="Open the project again, then add the models.",
        )
    name, text = file.path.name, file.text
    declared = {connection.id for connection in project.config.connections}
    needed = {entry.provider for entry in entries}
    for connection in connections:
        if connection.id in needed and connection.id not in declared and not _is_kind(connection):
            text = _added(compose(text, name), ("connections", "providers"), _connection_item(connection))
            declared.add(connection.id)
    for entry in entries:
        text = _added(compose(text, name), ("models", "targets"), _model_item(entry))
    return Written(save_text(file, text), file.text)


def _is_kind(connection: Connection) -> bool:
    """Whether the project can name it without declaring it: a kind at its usual address."""
    return canonical_kind(connection.id) is not None and not connection.base_url


def _added(document: Document, names: tuple[str, ...], item: dict[str, Any]) -> str:
    """The text with an item more in the list of one of these names; the list is made where there is none."""
    written = {key.value for key, _value in pairs(document.root)} if document.root is not None else set()
    name = next((name for name in names if name in written), None)
    if name is None:
        return add_key(document, (), names[0], [item])
    return add_item(document, (name,), item)


def _model_item(entry: ModelEntry) -> dict[str, Any]:
    item: dict[str, Any] = {}
    if entry.key and entry.key != entry.model:
        item["key"] = entry.key
    item["model"] = entry.model
    if entry.provider:
        item["provider"] = entry.provider
    if entry.label and entry.label != entry.model:
        item["label"] = entry.label
    return item


def _connection_item(connection: Connection) -> dict[str, Any]:
    item = {"id": connection.id, "kind": connection.kind}
    if connection.base_url:
        item["base_url"] = connection.base_url
    return item
