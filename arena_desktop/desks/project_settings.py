"""Changes single settings in a project's config file; everything else in it stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from arena_desktop.desks.project_files import Written
from engine.config.saving import save_text
from engine.config.spans import find
from engine.config.splice import remove, set_value
from engine.config.text_files import TextFile, read_text
from engine.config.values import pairs
from engine.config.yaml_text import MAX_BYTES, Document, compose
from engine.errors import UserError
from engine.project import Project

Place = tuple[str, ...]
_OTHER_NAMES: Mapping[Place, Place] = {("project",): ("name",)}
_LISTS = ("models", "targets")


def change_settings(project: Project, values: Mapping[Place, Any]) -> Written:
    """Writes values at their places in the config. None takes a setting away.

    Raises:
        UserError: `changed_on_disk`, `splice_refused`, `splice_no_place`, `not_encodable`.
        WorldError: the file cannot be read or written.
    """
    file = config_text(project)
    text = file.text
    for wanted, value in values.items():
        document = compose(text, file.path.name)
        place = _written_place(document, wanted)
        if value is not None:
            text = set_value(document, place, value)
        elif find(document.root, place) is not None:
            text = remove(document, place)
    return Written(save_text(file, text), file.text)


def _written_place(document: Document, place: Place) -> Place:
    """Where the file has the setting, which may be under its other name."""
    other = _OTHER_NAMES.get(place)
    if other is None or find(document.root, place) is not None or find(document.root, other) is None:
        return place
    return other


def remove_model(project: Project, key: str) -> Written:
    """Takes a model out of the config.

    Raises:
        UserError, WorldError: as `change_settings`; `model_not_found` where it stands there in no
            plain way.
    """
    file = config_text(project)
    document = compose(file.text, file.path.name)
    for name in _LISTS:
        spot = find(document.root, (name,))
        items = spot.node.value if spot is not None and isinstance(spot.node, SequenceNode) else []
        found = [number for number, node in enumerate(items) if _key(node) == key]
        if len(found) == 1:
            return Written(save_text(file, remove(document, (name, found[0]))), file.text)
    raise UserError(
        "model_not_found",
        f"The model {key} cannot be taken out here.",
        hint="Take it out in the settings file.",
    )


def _key(node: Node) -> str | None:
    """The key of a written model: its own, else the model's name."""
    if isinstance(node, ScalarNode):
        return str(node.value)
    if not isinstance(node, MappingNode):
        return None
    written = {key.value: value for key, value in pairs(node)}
    own = next((written[name] for name in ("key", "model", "id", "name") if name in written), None)
    return str(own.value) if isinstance(own, ScalarNode) else None


def config_text(project: Project) -> TextFile:
    """The config file as it was when the project was read.

    Raises:
        UserError: `changed_on_disk`.
        WorldError: it cannot be read.
    """
    file = read_text(project.config_file, project.config_file.name, MAX_BYTES)
    if file.digest != project.digest:
        raise UserError(
            "changed_on_disk",
            f"{file.path.name} was changed by another program since it was opened.",
            hint="Press “Read again”, then change it.",
        )
    return file
