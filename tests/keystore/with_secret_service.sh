#!/bin/sh
# Runs a command with a real Secret Service (GNOME Keyring) on a private session bus, thrown away afterwards.
#   sh with_secret_service.sh open COMMAND...      an unlocked keyring
#   sh with_secret_service.sh locked COMMAND...    a keyring that is there and stays locked
# Needs dbus-run-session and gnome-keyring-daemon. Nothing is written outside a temporary folder.
set -eu
state=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_DATA_HOME="$work/data" XDG_CACHE_HOME="$work/cache" XDG_RUNTIME_DIR="$work/run"
mkdir -p "$XDG_DATA_HOME" "$XDG_CACHE_HOME"
mkdir -m 700 "$XDG_RUNTIME_DIR"
unset DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS 2>/dev/null || true

if [ "$state" = open ]; then
    # The password is one line; the empty line is the empty password.
    dbus-run-session -- sh -c '
        printf "\n" | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
        exec "$@"' sh "$@"
    exit
fi

# A first session makes the keyring with a password, the second one is never told it.
dbus-run-session -- sh -c '
    printf "secret\n" | gnome-keyring-daemon --foreground --unlock --components=secrets >/dev/null 2>&1 &
    daemon=$!
    tries=0
    while [ ! -e "$XDG_DATA_HOME/keyrings/login.keyring" ] && [ $tries -lt 100 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    kill $daemon
    wait $daemon' 2>/dev/null || true
# With the old folder the new daemon would look for the old one, and the bus waits two minutes for it.
export XDG_RUNTIME_DIR="$work/second"
mkdir -m 700 "$XDG_RUNTIME_DIR"
dbus-run-session -- sh -c '
    gnome-keyring-daemon --start --components=secrets >/dev/null 2>&1
    exec "$@"' sh "$@"
