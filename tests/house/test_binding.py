"""The binding between Python and Qt holds under load.

Some pairs of Python and PySide6 lose references to True and None at every crossing and abort the
process after some hundred signals. A child process takes the blow, so that a bad upgrade is one red test.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

CHILD = """
import sys
from PySide6.QtCore import QCoreApplication, QObject, QRunnable, QThreadPool, QThread, Signal, Qt

class Source(QObject):
    told = Signal(object)

class Sink(QObject):
    def __init__(self):
        super().__init__()
        self.seen = 0
    def take(self, value):
        self.seen += 1

app = QCoreApplication([])
source, sink = Source(), Sink()
source.told.connect(sink.take, Qt.ConnectionType.QueuedConnection)
before = [sys.getrefcount(x) for x in (None, True, False)]
for i in range(20_000):
    source.told.emit(True if i % 2 else None)
    if i % 500 == 0:
        app.processEvents()
app.processEvents()
pool = QThreadPool()
pool.setMaxThreadCount(4)
done = []
class Task(QRunnable):
    def run(self):
        done.append(1)
for _ in range(20_000):
    pool.start(Task())
pool.waitForDone()
after = [sys.getrefcount(x) for x in (None, True, False)]
lost = [b - a for b, a in zip(before, after)]
assert sink.seen == 20_000, sink.seen
assert len(done) == 20_000, len(done)
assert max(lost) < 1_000, lost
"""


def test_twenty_thousand_signals_and_runnables_leave_the_process_alive() -> None:
    command = [sys.executable, "-c", CHILD]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Traceback" not in done.stderr


def test_the_binding_is_the_pinned_one() -> None:
    assert version("PySide6-Essentials") == "6.11.3"
