#!/usr/bin/env python3
"""Sets everything up and starts Agent Arena Desktop. Standard library only.

    python3 start.py          set up, then open the window (or run the sample where there is no screen)
    python3 start.py test     set up with the test tools, then run the whole test suite

Further words after `test` go to pytest. Both do nothing twice: a second start only looks whether
`requirements.lock` has changed. The file must stay readable to old Pythons, so that they get a sentence.
"""

import ctypes
import glob
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
LOCK = os.path.join(ROOT, "requirements.lock")
STAMP = os.path.join(VENV, "arena-setup.txt")
WINDOWS = os.name == "nt"
PYTHON = os.path.join(VENV, "Scripts", "python.exe") if WINDOWS else os.path.join(VENV, "bin", "python")
NEEDED_MB = 1500
OLDEST = (3, 11)
NETWORK_SIGNS = ("dns", "resolve host", "name resolution", "connection", "network", "timed out")

# What Qt loads from the system, and the Debian or Ubuntu package that brings it.
QT_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libfontconfig.so.1": "libfontconfig1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libdbus-1.so.3": "libdbus-1-3",
}
WINDOW_LIBRARIES = {
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
TEST_PROGRAMS = {"Xvfb": "xvfb", "dbus-run-session": "dbus", "gnome-keyring-daemon": "gnome-keyring"}


class SetupError(Exception):
    """Something that stops the set-up, as sentences for the person in front of the screen."""


def say(text):
    """Prints one line for people; standard output stays free for results."""
    print(text, file=sys.stderr, flush=True)


def find_python():
    """Returns a Python that is new enough: this one, else one on the path. Raises SetupError."""
    if sys.version_info >= OLDEST:
        return sys.executable
    for minor in (13, 12, 11, 14):
        found = shutil.which("python3.%d" % minor)
        if found:
            return found
    raise SetupError(
        "Agent Arena needs Python 3.11 or newer, and this is Python %s. "
        "Install a newer one from your system's packages or from python.org, then run this again."
        % platform.python_version()
    )


def lock_sections(sections):
    """Returns the text of the named sections of requirements.lock, in the file's order."""
    try:
        with open(LOCK, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise SetupError(
            "The file requirements.lock cannot be read (%s). Get a complete copy of the program." % error
        )
    wanted, kept = False, []
    for line in lines:
        if line.startswith("# section: "):
            wanted = line[len("# section: ") :].strip() in sections
        elif wanted:
            kept.append(line)
    return "\n".join(kept) + "\n"


def fingerprint(requirements):
    """Returns what an up-to-date environment for these requirements says in its stamp."""
    text = requirements + sys.version + ROOT
    return hashlib.sha256(text.encode()).hexdigest()


def stamp_lines():
    """Returns the stamps of what is installed already."""
    try:
        with open(STAMP, encoding="utf-8") as file:
            return file.read().split()
    except OSError:
        return []


def check_disk():
    """Raises SetupError where the disk has no room for the environment."""
    free_mb = shutil.disk_usage(ROOT).free // 1_000_000
    if free_mb < NEEDED_MB:
        raise SetupError(
            "The disk is too full: %d MB are free and the set-up needs about %d MB. "
            "Free some space, then run this again. Nothing was changed." % (free_mb, NEEDED_MB)
        )


def run(command, **options):
    """Runs a command without showing its output; returns the finished process."""
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options
    )


def make_environment(uv, python):
    """Makes the empty environment. Raises SetupError."""
    if os.path.exists(PYTHON) and run([PYTHON, "-c", "pass"]).returncode == 0:
        return
    if os.path.isdir(VENV):
        say("The old environment does not work any more and is made anew.")
        shutil.rmtree(VENV)
    command = [uv, "venv", "-q", "--python", python, VENV] if uv else [python, "-m", "venv", VENV]
    made = run(command)
    if made.returncode and not uv and "ensurepip" in made.stdout:
        install_packages(["python3-venv"], "Python's own module for environments")
        made = run(command)
    if made.returncode:
        raise SetupError(
            "The environment for the program could not be made in %s.\n%s" % (VENV, made.stdout[-800:])
        )


def install(uv, requirements):
    """Installs the pinned packages. Raises SetupError with a sentence for the usual causes."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False, encoding="utf-8") as file:
        file.write(requirements)
    options = ["--no-deps", "--require-hashes", "-r", file.name]
    if uv:
        command = [uv, "pip", "install", "-q", "--python", PYTHON] + options
    else:
        command = [PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check"] + options
    try:
        done = run(command)
    finally:
        os.unlink(file.name)
    if done.returncode == 0:
        return
    said = done.stdout.lower()
    if "no space left" in said:
        raise SetupError("The disk became full while installing. Free some space, then run this again.")
    if any(sign in said for sign in NETWORK_SIGNS):
        raise SetupError(
            "The packages could not be fetched: the package index did not answer. "
            "Check the internet connection or the proxy, then run this again.\n" + done.stdout[-600:]
        )
    raise SetupError("The packages could not be installed.\n" + done.stdout[-1500:])


def prepare(sections):
    """Brings the environment to the lock file's state; quick when it is there already."""
    python = find_python()
    requirements = lock_sections(sections)
    stamp = fingerprint(requirements)
    if stamp in stamp_lines() and os.path.exists(PYTHON):
        return
    check_disk()
    say("Setting up Agent Arena in %s. The first time takes a minute or two." % VENV)
    uv = shutil.which("uv")
    make_environment(uv, python)
    install(uv, requirements)
    run([PYTHON, "-m", "compileall", "-q", "-j", "0", os.path.join(VENV, "lib")])
    write_launchers()
    with open(STAMP, "a", encoding="utf-8") as file:
        file.write(stamp + "\n")


def write_launchers():
    """Makes the program importable in its environment, and puts `arena-desktop` beside its Python."""
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    library = run([PYTHON, "-c", code]).stdout.strip()
    with open(os.path.join(library, "arena_desktop_source.pth"), "w", encoding="utf-8") as file:
        file.write(ROOT + "\n")
    folder = os.path.dirname(PYTHON)
    if WINDOWS:
        with open(os.path.join(folder, "arena-desktop.cmd"), "w", encoding="utf-8") as file:
            file.write('@"%s" -m arena_desktop %%*\r\n' % PYTHON)
        return
    launcher = os.path.join(folder, "arena-desktop")
    with open(launcher, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\nexec "%s" -m arena_desktop "$@"\n' % PYTHON)
    os.chmod(launcher, 0o755)


def missing_libraries(libraries):
    """Returns the packages for those shared libraries that cannot be loaded here."""
    missing = []
    for name, package in libraries.items():
        try:
            ctypes.CDLL(name)
        except OSError:
            missing.append(package)
    return missing


def has_fonts():
    """Says whether any font is installed; without one a window shows no letter."""
    folders = ("/usr/share/fonts", "/usr/local/share/fonts", os.path.expanduser("~/.local/share/fonts"))
    return any(glob.glob(os.path.join(f, "**", "*.[ot]tf"), recursive=True) for f in folders)


def installer():
    """Returns the command that may install Debian packages here, or None."""
    if not shutil.which("apt-get"):
        return None
    if os.geteuid() == 0:
        return ["apt-get"]
    sudo = shutil.which("sudo")
    if sudo and run([sudo, "-n", "true"]).returncode == 0:
        return [sudo, "-n", "apt-get"]
    return None


def debian_names(packages):
    """Debian 13 and Ubuntu 24.04 renamed one of the packages; returns the names that exist here."""
    if "libglib2.0-0" in packages and run(["apt-cache", "show", "libglib2.0-0t64"]).returncode == 0:
        return ["libglib2.0-0t64" if p == "libglib2.0-0" else p for p in packages]
    return packages


def install_packages(packages, why, needed=True):
    """Installs system packages when that is allowed, else says the one line to run."""
    command = installer()
    line = "sudo apt-get install -y " + " ".join(packages)
    if command is None:
        text = "Missing on this computer: %s. Run this line, then start again:\n    %s" % (why, line)
        if not shutil.which("apt-get"):
            names = " ".join(packages)
            text = "Missing on this computer: %s. Install what your system calls: %s" % (why, names)
        if needed:
            raise SetupError(text)
        say(text)
        return
    say("Installing %s: %s" % (why, " ".join(packages)))
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    run(command + ["update", "-q"], env=environment)
    names = debian_names(packages)
    done = run(command + ["install", "-y", "-q", "--no-install-recommends"] + names, env=environment)
    if done.returncode and needed:
        raise SetupError("%s could not be installed. Run this line to see why:\n    %s" % (why, line))
    if done.returncode:
        say("%s could not be installed; what needs it is left out." % why)


def check_system(window, tests):
    """Makes sure that Qt finds what it needs from the system (Linux only)."""
    if not sys.platform.startswith("linux"):
        return
    libraries = dict(QT_LIBRARIES)
    if window or tests:
        libraries.update(WINDOW_LIBRARIES)
    packages = missing_libraries(libraries)
    if not has_fonts():
        packages.append("fonts-noto-core")
    if packages:
        install_packages(packages, "what Qt needs from the system")
    if tests:
        programs = [package for name, package in TEST_PROGRAMS.items() if not shutil.which(name)]
        if programs:
            install_packages(programs, "programs that some tests start", needed=False)


def has_display():
    """Says whether a window can be opened here."""
    if not sys.platform.startswith("linux"):
        return True
    if os.environ.get("QT_QPA_PLATFORM"):
        return True
    if os.environ.get("WAYLAND_DISPLAY"):
        return True
    display = os.environ.get("DISPLAY", "")
    if display.startswith(":"):
        return os.path.exists("/tmp/.X11-unix/X" + display[1:].split(".")[0])
    return bool(display)


def become(arguments):
    """Goes on as the program itself; returns its exit code where a process cannot be replaced."""
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    os.chdir(ROOT)
    command = [PYTHON] + arguments
    if WINDOWS:
        return subprocess.call(command, env=environment)
    os.execve(PYTHON, command, environment)


def start_program():
    """`python3 start.py`: the window, or the sample's result where there is no screen."""
    window = has_display()
    prepare(["program", "local", "sandbox"])
    check_system(window=window, tests=False)
    if window:
        return become(["-m", "arena_desktop"])
    say("There is no screen here, so the sample project runs without a window.")
    say("To see the window: run this on a desktop, or connect with `ssh -X`.")
    return become(
        ["-m", "arena_desktop", "run", os.path.join("projects", "support-triage"), "--report", "--yes"]
    )


def side_by_side(arguments):
    """Words for pytest that share the whole suite among processes; a part of it runs faster in one."""
    processes = min(4, os.cpu_count() or 1)
    if processes == 1 or "-n" in arguments or any(not word.startswith("-") for word in arguments):
        return []
    # A file stays in one process: its tests may share a window.
    return ["-n", str(processes), "--dist", "loadfile"]


def start_tests(arguments):
    """`python3 start.py test`: the whole suite, with the small models installed."""
    prepare(["program", "local", "sandbox", "development"])
    check_system(window=False, tests=True)
    return become(["-m", "pytest"] + side_by_side(arguments) + arguments)


def main(arguments):
    """Runs one of the two commands; errors are sentences and exit code 1."""
    try:
        if arguments[:1] == ["test"]:
            return start_tests(arguments[1:])
        if arguments:
            raise SetupError(
                "start.py knows no %r. Use `python3 start.py` or `python3 start.py test`." % arguments[0]
            )
        return start_program()
    except SetupError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("Stopped. Run the same line again to carry on.")
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
