"""The fixed messages of a case: role and text, as chat programs write them."""

from __future__ import annotations

from providers.base import Message
from yaml.nodes import Node, ScalarNode, SequenceNode

from engine.config.faults import Faults, join
from engine.config.values import pairs

_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


def read_message(node: Node, path: str, faults: Faults) -> Message | None:
    """One turn; None where it cannot be sent, with the reason in `faults`."""
    parts = {key.value: value for key, value in pairs(node)}
    role, content = parts.get("role"), parts.get("content")
    known = _ROLES.get(role.value) if isinstance(role, ScalarNode) else None
    if known is None or content is None:
        faults.error(
            node,
            path,
            "bad_message",
            "A message needs a `role` (user, assistant or system) and a `content`.",
            "Write `{role: user, content: …}`.",
        )
        return None
    text = _content(content)
    if text is None:
        where = join(path, "content")
        faults.error(content, where, "bad_message", "The content of a message must be text.", "Write text.")
        return None
    return Message(known, text)


def _content(node: Node) -> str | None:
    """Text, or the text parts of a list of parts as chat programs write them."""
    if isinstance(node, ScalarNode):
        return str(node.value)
    if not isinstance(node, SequenceNode):
        return None
    texts = []
    for part in node.value:
        text = next((value for key, value in pairs(part) if key.value == "text"), None)
        if not isinstance(text, ScalarNode):
            return None
        texts.append(text.value)
    return "\n".join(texts)
