"""A cancel mark reaches a worker that does not look: inside of a library, a long sum, a read that cannot be polled.

Whoever waits in our own code looks for the mark by itself (explorer/stopping.py). For the rest a thread beside the
worker looks, and after a moment of grace interrupts the main thread as Ctrl-C would. A worker may be killed at any
moment without losing a finished part, so it may be interrupted at any, too.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from explorer.runs.state import Cancelled

SECONDS_BETWEEN_LOOKS = 0.3  # seconds between two looks at the mark
SECONDS_OF_GRACE = (
    1.0  # seconds for the worker to see it by itself; then again each time, should a library have kept the error
)


@contextlib.contextmanager
def interrupted(is_asked: Callable[[], bool]) -> Iterator[None]:
    """Within it, Cancelled is raised wherever the main thread is soon after `is_asked`; elsewhere nothing is done."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGUSR1"):
        yield
        return
    finished = threading.Event()
    main = threading.get_ident()

    def raise_cancelled(number: int, frame: FrameType | None) -> None:
        if not finished.is_set():
            raise Cancelled

    # A signal, and not an exception set from here: Python runs the handler in the main thread also while that waits in
    # a system call. Repeated, since a library may catch the first one and go on.
    def watch() -> None:
        while not finished.wait(SECONDS_BETWEEN_LOOKS):
            while is_asked() and not finished.wait(SECONDS_OF_GRACE):
                signal.pthread_kill(main, signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, raise_cancelled)
    watcher = threading.Thread(target=watch, name="cancel", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        finished.set()
        watcher.join()
        signal.signal(signal.SIGUSR1, before)
