"""A short notice of the system, for whoever looks at another window when a run ends.

Only an addition: the window itself always says the same.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QSystemTrayIcon

SHOWN_MS = 10_000
_SERVICE = "org.freedesktop.Notifications"
_BUS_TIMEOUT_S = 3.0
_log = logging.getLogger(__name__)


class Way(Protocol):
    """One way to show a notice. Nothing in it may wait."""

    def available(self) -> bool:
        """Whether it can be tried here at all."""
        ...

    def send(self, title: str, text: str) -> None:
        """Shows a notice, or fails quietly in the log."""
        ...


class BusWay:
    """The notification service of Linux desktops, asked on a thread of its own."""

    def __init__(self, app_name: str, tell: Callable[[str, str, str], None] | None = None) -> None:
        self._app_name = app_name
        self._tell = tell or _tell_the_bus

    def available(self) -> bool:
        """Only where a desktop session may have the service."""
        return sys.platform.startswith("linux") and _has_module("jeepney") and _has_session_bus()

    def send(self, title: str, text: str) -> None:
        """Hands it over and does not wait for an answer."""
        arguments = (self._app_name, title, text)
        threading.Thread(target=self._carry_out, args=arguments, name="notice", daemon=True).start()

    def _carry_out(self, app_name: str, title: str, text: str) -> None:
        try:
            self._tell(app_name, title, text)
        except Exception as error:
            _log.info("the desktop shows no notices: %r", error)


class TrayWay(QObject):
    """A tray icon that is there only while its notice is shown. GUI thread only."""

    def __init__(self, icon: Callable[[], QIcon], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._icon = icon
        self._tray: QSystemTrayIcon | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._leave)

    def available(self) -> bool:
        """Whether the desktop has a tray that shows messages."""
        return QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()

    def send(self, title: str, text: str) -> None:
        """Shows the icon with its message for a few seconds."""
        if self._tray is None:
            self._tray = QSystemTrayIcon(self._icon(), self)
        self._tray.show()
        self._tray.showMessage(title, text, QSystemTrayIcon.MessageIcon.NoIcon, SHOWN_MS)
        self._timer.start(SHOWN_MS)

    def _leave(self) -> None:
        tray, self._tray = self._tray, None
        if tray is not None:
            tray.hide()
            tray.deleteLater()


class Notifier:
    """Sends a notice the first way that is there. GUI thread only; never waits, never raises."""

    def __init__(self, ways: Sequence[Way]) -> None:
        self._ways = tuple(ways)

    def send(self, title: str, text: str) -> bool:
        """False where this system has no way to show notices."""
        for way in self._ways:
            try:
                if way.available():
                    way.send(title, text)
                    return True
            except Exception:
                _log.warning("a notice could not be shown", exc_info=True)
        return False


def system_notifier(app_name: str, icon: Callable[[], QIcon], parent: QObject) -> Notifier:
    """The ways of this system, the best first."""
    return Notifier((BusWay(app_name), TrayWay(icon, parent)))


def _has_module(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def _has_session_bus() -> bool:
    return bool(os.environ.get("DBUS_SESSION_BUS_ADDRESS"))


def _tell_the_bus(app_name: str, title: str, text: str) -> None:
    # Without types of its own, and there on Linux only.
    jeepney = importlib.import_module("jeepney")
    blocking = importlib.import_module("jeepney.io.blocking")

    address = jeepney.DBusAddress("/org/freedesktop/Notifications", bus_name=_SERVICE, interface=_SERVICE)
    # Where a desktop reads markup in a notice, a project's name must not become any.
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    values: tuple[object, ...] = (app_name, 0, "", title, plain, [], {}, SHOWN_MS)
    connection = blocking.open_dbus_connection("SESSION", auth_timeout=_BUS_TIMEOUT_S)
    try:
        message = jeepney.new_method_call(address, "Notify", "susssasa{sv}i", values)
        connection.send_and_get_reply(message, timeout=_BUS_TIMEOUT_S)
    finally:
        connection.close()
