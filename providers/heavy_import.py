"""Work that makes very many objects, without the interpreter looking at all of them again and again."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def collecting_paused() -> Iterator[None]:
    """For reading a large file into objects that hold no circles: twice as fast. On any thread."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


@contextlib.contextmanager
def heavy_import() -> Iterator[None]:
    """For the import of an SDK and the like, on any thread.

    A third of a million objects come to stay, and every full collection would look at all of
    them, 70 ms each during which no thread runs, the window's neither. So none takes place
    meanwhile, and what there is afterwards is left out of later ones.
    """
    with collecting_paused():
        try:
            yield
        finally:
            gc.freeze()
