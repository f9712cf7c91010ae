"""Key stores that do what real ones do when something is wrong."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field


@dataclass
class FakeStore:
    """Counts its calls; raises what it is told to."""

    kept: dict[tuple[str, str], str] = field(default_factory=dict)
    on_read: BaseException | None = None
    on_write: BaseException | None = None
    reads: int = 0
    forgets: bool = False

    def get_password(self, service: str, username: str) -> str | None:
        self.reads += 1
        if self.on_read is not None:
            raise self.on_read
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.on_write is not None:
            raise self.on_write
        if not self.forgets:
            self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class WindowsLike(FakeStore):
    """Refuses what the Windows Credential Manager refuses."""

    def set_password(self, service: str, username: str, password: str) -> None:
        if len(password.encode("utf-16-le")) > 2560:
            raise OSError(1783, "The stub received bad data")
        super().set_password(service, username, password)


class Waiting(FakeStore):
    """Answers only when it is released, as behind a prompt that nobody sees."""

    def __init__(self) -> None:
        super().__init__()
        self.release = threading.Event()

    def get_password(self, service: str, username: str) -> str | None:
        self.release.wait(30)
        return super().get_password(service, username)
