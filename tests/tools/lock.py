"""Writes or checks `requirements.lock`.

    python -m tests.tools.lock            resolve anew with uv and write the file
    python -m tests.tools.lock --check    say whether the file still belongs to pyproject.toml

The file has sections, so that `start.py` installs only what a command needs: the program, the extras
`local` and `sandbox`, the development group. Only packages that some system really installs are listed, each
with its hashes and no host.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "requirements.lock"
SECTIONS = {
    "program": ["--no-dev"],
    "local": ["--no-dev", "--extra", "local"],
    "sandbox": ["--no-dev", "--extra", "sandbox"],
    "development": ["--all-groups", "--all-extras"],
}
NEVER = "sys_platform == 'never'"


def source_digest() -> str:
    """Returns the SHA-256 of all in pyproject.toml that decides which packages are locked."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = data["project"]
    deciding = {
        "requires-python": project["requires-python"],
        "dependencies": project["dependencies"],
        "extras": project["optional-dependencies"],
        "groups": data["dependency-groups"],
        "uv": data["tool"]["uv"],
    }
    return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()


def exported(options: list[str]) -> dict[str, str]:
    """Returns requirement line -> its full text with hashes, as uv exports it."""
    command = ["uv", "export", "-q", "--no-emit-project", "--no-annotate", "--no-header", *options]
    text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    blocks = re.split(r"\n(?=\S)", text.strip())
    heads = {block.splitlines()[0].rstrip(" \\"): block for block in blocks}
    return {head: block for head, block in heads.items() if NEVER not in head}


def render() -> str:
    """Returns the whole lock file for today's registry."""
    subprocess.run(["uv", "lock", "-q", "--upgrade"], cwd=ROOT, check=True)
    lines = [
        "# Written by `python -m tests.tools.lock`; do not edit.",
        f"# pyproject: {source_digest()}",
    ]
    seen: set[str] = set()
    for section, options in SECTIONS.items():
        lines.append(f"# section: {section}")
        for requirement, block in exported(options).items():
            if requirement not in seen:
                seen.add(requirement)
                lines.append(block)
    return "\n".join(lines) + "\n"


def is_current() -> bool:
    """Says whether the lock file was made from today's pyproject.toml."""
    return f"# pyproject: {source_digest()}" in LOCK.read_text(encoding="utf-8").splitlines()[:3]


def main() -> int:
    """Runs one of the two commands."""
    if sys.argv[1:] == ["--check"]:
        if is_current():
            return 0
        sys.stderr.write("requirements.lock is not of this pyproject.toml. Run: python -m tests.tools.lock\n")
        return 1
    LOCK.write_text(render(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
