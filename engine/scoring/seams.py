"""What checks ask of the rest of the program: a judge, embeddings, an isolated interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from engine.domain import CallError, Outcome


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """One question to the judge model. `vote` counts from 1, `attempt` is 2 for the one retry.

    `temperature` is 0 unless the project says otherwise. `purpose` is mark or pair. `between` are
    the models whose answers are compared, in the order shown; the judge is not told. `criteria` are
    the names that a mark must score. `purpose` own: own code asks, and reads the reply itself.
    """

    prompt: str
    system: str
    max_tokens: int = 512
    temperature: float = 0.0
    vote: int = 1
    attempt: int = 1
    purpose: str = "mark"
    between: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """What the judge model said. `error` set = the call failed and `text` is empty.

    `outcome` is that of any call: complete, length, empty, refused, blocked, failed, stopped.
    """

    text: str = ""
    outcome: Outcome = Outcome.COMPLETE
    error: CallError | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class EmbedAsk:
    """Texts whose vectors a check wants, none of them blank, from the model that it names."""

    model: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EmbedSaid:
    """One vector per text, in the order asked. `error` set = the call failed and there are none."""

    vectors: tuple[Sequence[float], ...] = ()
    error: CallError | None = None


MarkRequest: TypeAlias = JudgeRequest | EmbedAsk
"""What a check may ask on its way to a mark; each is a call that costs."""
MarkReply: TypeAlias = JudgeReply | EmbedSaid


SANDBOX_MISSING = (
    "Code is run in a sandbox only, and it is not installed. Install the extra `sandbox`:"
    ' `pip install "arena-desktop[sandbox]"`.'
)
"""Why code cannot be run here, and how to get what it takes."""


@dataclass(frozen=True, slots=True)
class SandboxRequest:
    """Python source to run with no files, no network and no rights."""

    source: str
    timeout_s: float = 15.0
    memory_mb: int = 256


@dataclass(frozen=True, slots=True)
class SandboxResult:
    """How a program ended. `fault` set = the sandbox itself could not do it.

    `fault` is a code: sandbox_missing, sandbox_preparing, sandbox_failed; `reason` its sentence.
    """

    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    timed_out: bool = False
    out_of_memory: bool = False
    fault: str = ""
    reason: str = ""
