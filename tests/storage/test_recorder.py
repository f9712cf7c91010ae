"""One writer: in order, in groups, durable before it is told, and nothing lost when a disk fails."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from engine.domain import Cell
from engine.errors import ArenaError, WorldError
from engine.storage.recorder import Recorder
from engine.storage.records import AnswerWrite, DoneWrite, FinishWrite, ScoreWrite, Write
from engine.storage.store import Store
from tests.storage import samples

CELLS = [planned.cell for planned in samples.head().cells]
RUN = samples.head().run_id


class Listener:
    """Notes what a recorder tells; `gate` can hold its thread inside a callback."""

    def __init__(self) -> None:
        self.batches: list[tuple[Write, ...]] = []
        self.failures: list[tuple[ArenaError, tuple[Write, ...]]] = []
        self.failed = threading.Event()
        self.reached = threading.Event()
        self.gate = threading.Event()
        self.gate.set()

    def committed(self, batch: Sequence[Write]) -> None:
        self.batches.append(tuple(batch))
        self.reached.set()
        assert self.gate.wait(20)

    def failure(self, error: ArenaError, writes: Sequence[Write]) -> None:
        self.failures.append((error, tuple(writes)))
        self.failed.set()

    @property
    def told(self) -> list[Write]:
        return [write for batch in self.batches for write in batch]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "arena.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store.open(path) as opened:
        opened.create_run(samples.head())
        yield opened


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def make(store: Store, listener: Listener) -> Iterator[Callable[..., Recorder]]:
    made: list[Recorder] = []

    def build(**options: float) -> Recorder:
        made.append(Recorder(store, listener.committed, listener.failure, **options))
        return made[-1]

    yield build
    listener.gate.set()
    for recorder in made:
        recorder.close()


def done(cell: Cell) -> DoneWrite:
    return DoneWrite(RUN, samples.plain_call(cell))


def fail_with(code: str) -> Callable[[Sequence[Write]], None]:
    def write(batch: Sequence[Write]) -> None:
        raise WorldError(code, "It failed.")

    return write


def test_writes_are_durable_when_they_are_told_and_come_in_order(
    make: Callable[..., Recorder], listener: Listener, path: Path
) -> None:
    seen: list[int] = []
    with Store.open(path, read_only=True) as other:
        tell = listener.committed

        def committed(batch: Sequence[Write]) -> None:
            tell(batch)
            seen.append(other.runs()[0].completed)

        listener.committed = committed  # type: ignore[method-assign]
        recorder = make()
        writes = [done(cell) for cell in CELLS]
        for write in writes:
            recorder.submit(write)
        assert recorder.flush(20)
        assert listener.told == writes
        counts = [
            sum(len(batch) for batch in listener.batches[: n + 1]) for n in range(len(listener.batches))
        ]
        assert seen == counts
        assert recorder.kept == ()
        assert recorder.close()


def test_what_comes_in_during_a_commit_is_the_next_one(
    make: Callable[..., Recorder], listener: Listener
) -> None:
    listener.gate.clear()
    recorder = make()
    recorder.submit(done(CELLS[0]))
    assert listener.reached.wait(20)
    for cell in CELLS[1:]:
        recorder.submit(done(cell))
    listener.gate.set()
    assert recorder.flush(20)
    assert [len(batch) for batch in listener.batches] == [1, len(CELLS) - 1]


def test_one_submit_is_one_commit_however_long(make: Callable[..., Recorder], listener: Listener) -> None:
    recorder = make()
    many = [done(CELLS[number % len(CELLS)]) for number in range(5_000)]
    recorder.submit(*many)
    assert recorder.flush(60)
    assert listener.batches == [tuple(many)]


def test_writes_of_many_threads_all_arrive_each_in_its_order(
    make: Callable[..., Recorder], listener: Listener, store: Store
) -> None:
    recorder = make()

    def work(part: Sequence[Cell]) -> None:
        for cell in part:
            call = samples.full_call(cell)
            assert call.answer is not None
            assert call.score is not None
            recorder.submit(AnswerWrite(RUN, cell, call.answer, finished_at=call.finished_at))
            recorder.submit(ScoreWrite(RUN, cell, call.score, samples.START))
            recorder.submit(DoneWrite(RUN, call))

    threads = [threading.Thread(target=work, args=(CELLS[n::4],)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorder.submit(FinishWrite(RUN, samples.finish(alpha=1.0)))
    assert recorder.close(20)
    for number in range(4):
        own = [
            write.cell
            for write in listener.told
            if isinstance(write, AnswerWrite) and write.cell in CELLS[number::4]
        ]
        assert own == CELLS[number::4]
    assert store.calls(RUN) == [samples.full_call(cell) for cell in CELLS]
    assert store.runs()[0].completed == len(CELLS)


def test_flush_gives_up_after_its_time(make: Callable[..., Recorder], listener: Listener) -> None:
    listener.gate.clear()
    recorder = make()
    recorder.submit(done(CELLS[0]))
    assert listener.reached.wait(20)
    recorder.submit(done(CELLS[1]))
    assert not recorder.flush(0.01)
    assert recorder.kept == (done(CELLS[0]), done(CELLS[1]))
    listener.gate.set()
    assert recorder.flush(20)


def test_after_closing_nothing_more_is_taken(make: Callable[..., Recorder]) -> None:
    recorder = make()
    assert recorder.close()
    assert recorder.close()
    with pytest.raises(ArenaError) as caught:
        recorder.submit(done(CELLS[0]))
    assert caught.value.code == "recorder_closed"


def test_a_listener_that_fails_stops_nothing(
    make: Callable[..., Recorder], listener: Listener, caplog: pytest.LogCaptureFixture
) -> None:
    def committed(batch: Sequence[Write]) -> None:
        listener.batches.append(tuple(batch))
        raise RuntimeError("a mistake in the window")

    listener.committed = committed  # type: ignore[method-assign]
    recorder = make()
    for cell in CELLS:
        recorder.submit(done(cell))
    assert recorder.flush(20)
    assert len(listener.told) == len(CELLS)
    assert "a mistake in the window" in caplog.text


@pytest.mark.parametrize("code", ["disk_full", "store_readonly", "store_damaged", "store_unreachable"])
def test_a_failing_disk_is_told_once_and_everything_is_kept(
    make: Callable[..., Recorder],
    listener: Listener,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    code: str,
) -> None:
    monkeypatch.setattr(store, "write", fail_with(code))
    recorder = make()
    recorder.submit(done(CELLS[0]), done(CELLS[1]))
    assert listener.failed.wait(20)
    recorder.submit(done(CELLS[2]))
    assert not recorder.flush(20)
    assert recorder.failure is not None
    assert recorder.failure.code == code
    assert recorder.kept == tuple(done(cell) for cell in CELLS[:3])
    ((error, writes),) = listener.failures
    assert (error.code, writes) == (code, (done(CELLS[0]), done(CELLS[1])))
    assert listener.batches == []
    assert not recorder.close(20)
    assert len(recorder.kept) == 3


def test_after_the_trouble_is_over_a_retry_saves_all_in_order(
    make: Callable[..., Recorder], listener: Listener, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as trouble:
        trouble.setattr(store, "write", fail_with("disk_full"))
        recorder = make()
        recorder.submit(done(CELLS[0]))
        assert listener.failed.wait(20)
        recorder.submit(done(CELLS[1]))
    recorder.retry()
    recorder.submit(done(CELLS[2]))
    assert recorder.flush(20)
    assert listener.told == [done(cell) for cell in CELLS[:3]]
    assert recorder.failure is None


def test_a_mistake_in_the_program_is_a_failure_too(
    make: Callable[..., Recorder], listener: Listener, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = make()
    recorder.submit(DoneWrite("run_nowhere", samples.plain_call(CELLS[0])))
    assert listener.failed.wait(20)
    assert listener.failures[0][0].code == "run_not_found"
    assert len(recorder.kept) == 1


def test_an_unexpected_exception_is_a_failure_with_a_sentence(
    make: Callable[..., Recorder], listener: Listener, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(batch: Sequence[Write]) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(store, "write", write)
    recorder = make()
    recorder.submit(done(CELLS[0]))
    assert listener.failed.wait(20)
    assert listener.failures[0][0].code == "recorder_failed"
    assert "oops" in listener.failures[0][0].message


def test_a_locked_file_is_tried_again_before_it_is_a_failure(
    make: Callable[..., Recorder], listener: Listener, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []
    write = store.write

    def locked_twice(batch: Sequence[Write]) -> None:
        tries.append(len(batch))
        if len(tries) < 3:
            raise WorldError("store_locked", "It is locked.")
        write(batch)

    monkeypatch.setattr(store, "write", locked_twice)
    recorder = make()
    recorder.submit(done(CELLS[0]))
    assert recorder.flush(20)
    assert len(tries) == 3
    assert listener.failures == []


def test_a_lock_without_end_is_a_failure(
    make: Callable[..., Recorder], listener: Listener, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "write", fail_with("store_locked"))
    recorder = make(lock_patience_s=0.0)
    recorder.submit(done(CELLS[0]))
    assert listener.failed.wait(20)
    assert listener.failures[0][0].code == "store_locked"


HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
connection.execute("COMMIT")
"""


def test_another_program_that_holds_the_lock_costs_no_result(
    make: Callable[..., Recorder],
    listener: Listener,
    store: Store,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trying = threading.Event()
    write = store.write

    def noted(batch: Sequence[Write]) -> None:
        trying.set()
        write(batch)

    monkeypatch.setattr(store, "write", noted)
    recorder = make()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], text=True, **pipes) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        for cell in CELLS:
            recorder.submit(done(cell))
        assert trying.wait(20)
        # Reading goes on meanwhile, and nothing is called saved before it is.
        assert store.runs()[0].completed == 0
        assert not recorder.flush(0.05)
        holder.communicate("go\n")
        assert recorder.flush(20)
    assert listener.failures == []
    assert store.runs()[0].completed == len(CELLS)


WRITE = """
import sys
from pathlib import Path
from engine.storage.recorder import Recorder
from engine.storage.store import Store
from tests.storage import samples

head = samples.head(sys.argv[2], cases=tuple(f"c{n}" for n in range(50)), trials=2)
faults = []
with Store.open(Path(sys.argv[1])) as store:
    store.create_run(head)
    recorder = Recorder(store, lambda batch: None, lambda error, writes: faults.append(error))
    for write in samples.done_writes(head):
        recorder.submit(write)
        recorder.flush(20)
    recorder.close(20)
sys.exit(len(faults))
"""


def test_two_programs_write_their_runs_into_one_store(store: Store, path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITE, str(path), name], cwd=Path(__file__).parents[2])
        for name in ("run_x", "run_y")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    for name in ("run_x", "run_y"):
        assert store.run(name).info.completed == 200
    assert {store.run(name).info.number for name in ("run_x", "run_y")} == {2, 3}
    assert store.check() == ()


@pytest.fixture
def broken(
    make: Callable[..., Recorder], listener: Listener, store: Store, monkeypatch: pytest.MonkeyPatch
) -> Recorder:
    """A recorder that saved five results, failed, and keeps seven."""
    recorder = make()
    for cell in CELLS[:5]:
        recorder.submit(done(cell))
    assert recorder.flush(20)
    monkeypatch.setattr(store, "write", fail_with("disk_full"))
    for cell in CELLS[5:]:
        recorder.submit(done(cell))
    assert listener.failed.wait(20)
    return recorder


def test_a_rescue_brings_the_whole_run_into_another_file(broken: Recorder, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere" / "saved.sqlite"
    assert broken.rescue(target) == len(CELLS) - 5
    assert broken.kept == ()
    assert broken.failure is not None
    with Store.open(target) as other:
        assert other.calls(RUN) == [samples.plain_call(cell) for cell in CELLS]
        assert other.run(RUN).config == samples.head().config
    assert broken.close()


def test_a_rescue_from_an_unreadable_file_begins_the_run_anew(
    broken: Recorder, store: Store, tmp_path: Path
) -> None:
    store.path.write_bytes(b"\xa5" * store.path.stat().st_size)
    for beside in store.path.parent.glob("arena.sqlite-*"):
        beside.unlink()
    target = tmp_path / "saved.sqlite"
    with pytest.raises(WorldError):
        broken.rescue(target)
    assert len(broken.kept) == len(CELLS) - 5
    assert broken.rescue(target, samples.head()) == len(CELLS) - 5
    with Store.open(target) as other:
        assert other.calls(RUN) == [samples.plain_call(cell) for cell in CELLS[5:]]
        assert [cell.cell for cell in other.unfinished(RUN)] == CELLS[:5]


def test_a_rescue_that_fails_keeps_everything(broken: Recorder, tmp_path: Path) -> None:
    target = tmp_path / "no-database"
    target.write_text("something else " * 500)
    with pytest.raises(WorldError) as caught:
        broken.rescue(target)
    assert caught.value.code == "store_damaged"
    assert len(broken.kept) == len(CELLS) - 5


def test_there_is_nothing_to_rescue_while_all_is_well(make: Callable[..., Recorder], tmp_path: Path) -> None:
    with pytest.raises(ArenaError) as caught:
        make().rescue(tmp_path / "saved.sqlite")
    assert caught.value.code == "nothing_to_rescue"


def test_an_idle_run_leaves_signs_of_life(
    make: Callable[..., Recorder], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    signs: list[Sequence[str]] = []
    several = threading.Event()
    leave = store.sign_of_life

    def noted(run_ids: Sequence[str]) -> None:
        leave(run_ids)
        signs.append(run_ids)
        if len(signs) == 3:
            several.set()

    monkeypatch.setattr(store, "sign_of_life", noted)
    before = _seen(store)
    recorder = make(sign_of_life_s=0.01)
    recorder.submit(done(CELLS[0]))
    assert several.wait(20)
    assert signs[:3] == [[RUN]] * 3
    assert _seen(store) > before
    recorder.submit(FinishWrite(RUN, samples.finish()))
    assert recorder.flush(20)
    assert _seen(store) is None


def _seen(store: Store) -> str:
    connection = sqlite3.connect(store.path)
    seen: str = connection.execute("SELECT seen_at FROM runs").fetchone()[0]
    connection.close()
    return seen
