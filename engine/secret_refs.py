"""References to secrets in project files: how they are written and where each may be read.

`${env:NAME}`, `${keyring:name}`, `${file:path}`, `${cmd:program and arguments}`. This module
reads environment, files and commands; entries of the key store are read by `keystore`.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from providers.registry import KINDS

from engine.config.paths import inside
from engine.errors import UserError
from engine.redact import redact

if TYPE_CHECKING:
    from engine.config.schema import Config

SCHEMES = ("env", "keyring", "file", "cmd")
COMMAND_TIMEOUT_S = 30.0
MAX_SECRET_BYTES = 64 * 1024
# What people write where a local server wants some key, any key.
PLACEHOLDERS = frozenset(
    (
        *("none", "empty", "no-key", "nokey", "not-needed", "not-used", "unused", "dummy", "local", "x"),
        *("ollama", "lm-studio", "lmstudio", "llamacpp", "vllm", "sk-no-key-required"),
    )
)

_REFERENCE = re.compile(r"\$\{([A-Za-z]+):(.*)\}", re.DOTALL)
_SHAPED = re.compile(
    r"sk-[A-Za-z0-9_\-]{8,}|AIza[A-Za-z0-9_\-]{16,}|gsk_[A-Za-z0-9]{8,}|xai-[A-Za-z0-9]{8,}|hf_[A-Za-z0-9]{8,}"
)
_TOKEN = re.compile(r"(?=.*[A-Za-z])(?=.*\d)[A-Za-z0-9_\-.~+/=]{20,}")
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
_ROUTING_HEADER = re.compile(r"host|forward|original|rewrite|override|^:", re.IGNORECASE)

# Variables of vendors that are reached through openai_compatible; the built-in kinds bring their own.
_OTHER_VENDORS: Mapping[str, tuple[str, ...]] = {
    "MISTRAL_API_KEY": ("api.mistral.ai",),
    "DEEPSEEK_API_KEY": ("api.deepseek.com",),
    "XAI_API_KEY": ("api.x.ai",),
    "TOGETHER_API_KEY": ("api.together.xyz", "api.together.ai"),
    "FIREWORKS_API_KEY": ("api.fireworks.ai",),
    "CEREBRAS_API_KEY": ("api.cerebras.ai",),
    "PERPLEXITY_API_KEY": ("api.perplexity.ai",),
    "COHERE_API_KEY": ("api.cohere.com", "api.cohere.ai"),
    "MOONSHOT_API_KEY": ("api.moonshot.ai", "api.moonshot.cn"),
    "HF_TOKEN": ("router.huggingface.co",),
}


@dataclass(frozen=True, slots=True)
class SecretRef:
    """A reference, taken apart. `scheme` is one of SCHEMES."""

    scheme: str
    value: str


@dataclass(frozen=True, slots=True)
class LiteralKey:
    """A key that stands in a project file itself. The value is not kept here.

    `place` is the dotted path; `connection` is whose key it is; `header` is None or its name.
    """

    place: str
    connection: str
    header: str | None = None


def parse_ref(text: str) -> SecretRef | None:
    """The reference that `text` is; None where it is a literal.

    Raises UserError `unknown_scheme` or `empty_reference`.
    """
    match = _REFERENCE.fullmatch(text.strip())
    if match is None:
        return None
    scheme, value = match.group(1).lower(), match.group(2).strip()
    if scheme not in SCHEMES:
        known = ", ".join(f"${{{name}:…}}" for name in SCHEMES)
        raise UserError(
            "unknown_scheme", f"${{{scheme}:…}} is no way to name a key.", hint=f"Use one of: {known}."
        )
    if not value:
        raise UserError(
            "empty_reference",
            f"${{{scheme}:}} names nothing.",
            hint="Write what it should be read from behind the colon.",
        )
    return SecretRef(scheme, value)


def looks_like_key(text: str) -> bool:
    """True for text that can hardly be anything but a key. References and placeholders are not."""
    word = text.strip()
    word = word.split(" ", 1)[1].strip() if word.lower().startswith(("bearer ", "basic ")) else word
    if _REFERENCE.fullmatch(word) or word.lower() in PLACEHOLDERS:
        return False
    return bool(_SHAPED.search(word) or _TOKEN.fullmatch(word))


def is_placeholder(text: str) -> bool:
    """True for the words people write where a local server wants any key at all."""
    return text.strip().lower() in PLACEHOLDERS


def is_routing_header(name: str) -> bool:
    """True for headers that tell servers on the way whom a request is really for."""
    return _ROUTING_HEADER.search(name) is not None


def is_secret_header(name: str) -> bool:
    """True for headers that carry a key or say who is asking."""
    return _SECRET_HEADER.search(name) is not None


def literal_keys(config: Config) -> list[LiteralKey]:
    """Every key that stands in the config itself, to be refused and offered to be moved."""
    return list(_literals(config))


def _literals(config: Config) -> Iterator[LiteralKey]:
    for connection in config.connections:
        place = f"connections.{connection.id}"
        ref = connection.api_key_ref
        if ref and not _REFERENCE.fullmatch(ref.strip()) and not is_placeholder(ref):
            yield LiteralKey(f"{place}.api_key_ref", connection.id)
        for name, value in connection.headers.items():
            if looks_like_key(value):
                yield LiteralKey(f"{place}.headers.{name}", connection.id, name)
    for number, entry in enumerate(config.models):
        if entry.api_key_env and looks_like_key(entry.api_key_env):
            yield LiteralKey(f"models[{number}].api_key_env", entry.provider or entry.key)
    if config.judge.api_key_env and looks_like_key(config.judge.api_key_env):
        yield LiteralKey("judge.api_key_env", config.judge.provider or "judge")


def vendor_hosts(variable: str) -> tuple[str, ...]:
    """The only hosts a vendor's own variable goes to; empty where it is no vendor's."""
    own = tuple(info.host for info in KINDS.values() if variable in info.key_env and info.host)
    return own or _OTHER_VENDORS.get(variable, ())


def read_file_secret(root: Path | None, name: str) -> str | None:
    """The trimmed content of a file inside the project folder; None where there is no such file.

    Raises UserError `outside_project`, `readable_by_others`, `secret_unreadable`.
    """
    if root is None:
        raise UserError(
            "outside_project", f"${{file:{name}}} has no project folder to be read from.", hint="Save first."
        )
    path = inside(root, name)
    if path is None:
        raise UserError(
            "outside_project",
            f"${{file:{name}}} lies outside the project folder and is not read.",
            hint="Put the file inside the folder, or enter the key in the program.",
        )
    try:
        if path.exists() and not path.is_file():
            raise OSError("it is not a file")
        with path.open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise UserError(
                    "readable_by_others",
                    f"{name} can be read by other users of this computer, so the key in it is not used.",
                    hint=f"Run: chmod 600 {shlex.quote(name)}",
                )
            return stream.read(MAX_SECRET_BYTES).decode("utf-8-sig").strip() or None
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        why = "it is not text" if isinstance(error, UnicodeDecodeError) else error.strerror or str(error)
        raise UserError(
            "secret_unreadable", f"{name} cannot be read: {why}.", hint="Check the file."
        ) from error


def run_secret_command(root: Path | None, command: str, timeout_s: float = COMMAND_TIMEOUT_S) -> str | None:
    """The trimmed output of a command, run without a shell in the project folder; None = empty.

    The caller has made sure that the user trusts the project's code. Raises UserError
    `command_failed`.
    """
    try:
        words = shlex.split(command, posix=os.name == "posix")
    except ValueError as error:
        raise _failed(command, f"it cannot be taken apart ({error})") from error
    if not words:
        raise _failed(command, "it is empty")
    try:
        done = subprocess.run(  # noqa: S603 - the user trusts this project's code, and there is no shell
            words,
            cwd=root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _failed(command, f"it did not end within {timeout_s:g} seconds") from error
    except OSError as error:
        raise _failed(command, f"it cannot be started: {error.strerror or error}") from error
    if done.returncode:
        said = redact(
            done.stderr.decode("utf-8", "replace").strip()[-300:], [done.stdout.decode("utf-8", "replace")]
        )
        raise _failed(command, f"it ended with code {done.returncode}" + (f": {said}" if said else ""))
    return done.stdout.decode("utf-8", "replace").strip() or None


def _failed(command: str, why: str) -> UserError:
    shown = redact(command)
    return UserError(
        "command_failed",
        f"The command {shown!r} gave no key: {why}.",
        hint="Run it yourself in the project folder to see why.",
    )
