"""Waiting that ends when it is told to: by a cancelled run, a visitor who left, or a deadline.

    with until(folder.stop_if_cancelled):   # the caller says how it is told to stop: by an exception
        pause(240)                          # below it, whoever waits asks that several times a second
        call(answer, within=lambda: 300.0)  # also while something waits that cannot ask, in a thread of its own

What stops a wait is a BaseException (`Cancelled`, Streamlit's own), so that no `except Exception` keeps it.
"""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import ContextVar
from typing import Any, Generic, Protocol, TypeVar

Check = Callable[[], None]  # returns, or raises what ends the wait
S = TypeVar("S")
T = TypeVar("T")

SLICE = 0.2  # seconds between two looks


class Stopped(BaseException):
    """Nobody waits any more for what this thread does."""


class Lock(Protocol):
    """What `turn` asks of a lock."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...
    def release(self) -> None: ...


class InOrder:
    """A lock that those who wait are given in the order in which they came.

    An ordinary lock goes to whoever asks at the right moment: of ten who wait, one may be passed over again and again.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._row: deque[threading.Event] = deque()  # the first has the lock

    def enter(self) -> threading.Event:
        """A place at the end of the row; it is set when the lock is had."""
        mine = threading.Event()
        with self._guard:
            self._row.append(mine)
            self._row[0].set()
        return mine

    def leave(self, mine: threading.Event) -> None:
        """Gives the place up, whether the lock was had or not."""
        with self._guard:
            self._row.remove(mine)
            if self._row:
                self._row[0].set()


# Of this thread, and of the whole process. A thread begins with none of the first kind: whoever starts one gives it a
# check of its own, as `call` and `in_threads` do.
_checks: ContextVar[tuple[Check, ...]] = ContextVar("checks", default=())
_everywhere: list[Check] = []


def everywhere(check: Check) -> None:
    """Asks `check` in every wait of this process, too; a thread that it does not concern passes it."""
    _everywhere.append(check)


@contextlib.contextmanager
def until(check: Check) -> Iterator[None]:
    """Within it every wait of this thread asks `check`, beside those around it."""
    before = _checks.set((*_checks.get(), check))
    try:
        yield
    finally:
        _checks.reset(before)


def look() -> None:
    """Raises where this thread was told to stop."""
    for check in (*_everywhere, *_checks.get()):
        check()


def pause(seconds: float) -> None:
    """Waits that long."""
    end = time.monotonic() + seconds
    look()
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(left, SLICE))
        look()


@contextlib.contextmanager
def turn(lock: Lock | InOrder) -> Iterator[None]:
    """Holds a lock of this process's threads, once it is free."""
    look()
    if isinstance(lock, InOrder):
        mine = lock.enter()
        try:
            while not mine.wait(SLICE):
                look()
            yield
        finally:
            lock.leave(mine)
        return
    # In slices: `acquire` without end could not be stopped, and a visitor who left would keep his place in the row.
    while not lock.acquire(timeout=SLICE):
        look()
    try:
        yield
    finally:
        lock.release()


def call(work: Callable[[], T], within: Callable[[], float]) -> T:
    """What `work` gives; TimeoutError after `within()` seconds, which may grow while it works.

    It works in a thread of its own, which is left behind when the caller is stopped or the time is over; its next
    `look` ends it then.
    """
    left_behind = threading.Event()
    outcome: Future[T] = Future()

    def run() -> None:
        with until(_raising(left_behind)):
            try:
                outcome.set_result(work())
            except BaseException as error:  # also Stopped: somebody may still look at the outcome
                outcome.set_exception(error)

    began = time.monotonic()
    # A daemon, for what is left behind must not keep the process from ending.
    threading.Thread(target=run, name="call", daemon=True).start()
    try:
        while not wait([outcome], timeout=SLICE).done:
            look()
            if time.monotonic() - began > within():
                raise TimeoutError
        return outcome.result()
    finally:
        left_behind.set()


class Begun(Generic[T]):
    """Work that goes on in a thread of its own, which does not keep the process from ending."""

    def __init__(self, do: Callable[[], T], name: str) -> None:
        self._left_behind = threading.Event()
        self._outcome: Future[T] = Future()
        self._do: Callable[[], T] | None = do
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def _run(self) -> None:
        # Not kept beyond its use: it may hold what was begun before it, and that the one before, back to the first.
        do, self._do = self._do, None
        assert do is not None
        with until(_raising(self._left_behind)):
            try:
                self._outcome.set_result(do())
            except BaseException as error:
                self._outcome.set_exception(error)

    def result(self) -> T:
        """What came of it, or its error, once it is done."""
        while not wait([self._outcome], timeout=SLICE).done:
            look()
        return self._outcome.result()

    def leave(self) -> None:
        """Nobody wants it any more: its next `look` ends it."""
        self._left_behind.set()

    def has_succeeded(self, seconds: float) -> bool:
        """Whether it ended without an error, within so many seconds from now."""
        self.settle(seconds)
        return self._outcome.done() and self._outcome.exception() is None

    def settle(self, seconds: float) -> None:
        """Returns when it has ended, or after so many seconds, whatever else this thread is told meanwhile."""
        end = time.monotonic() + seconds
        while not self._outcome.done() and time.monotonic() < end:
            with contextlib.suppress(BaseException):
                wait([self._outcome], timeout=SLICE)


def command(arguments: Sequence[str], seconds: float) -> subprocess.CompletedProcess[str]:
    """A program's output, once it has ended; TimeoutError after so many seconds. Stopped, it is killed."""
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        child = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        end = time.monotonic() + seconds
        try:
            while child.poll() is None:
                look()
                if time.monotonic() > end:
                    raise TimeoutError
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(SLICE)
        except BaseException:
            child.kill()
            child.wait()
            raise
        said.seek(0)
        return subprocess.CompletedProcess(arguments, child.returncode, said.read())


def in_threads(
    work: Callable[[S], T], items: Iterable[S], threads: int
) -> Generator[tuple[int, Future[T]], None, None]:
    """The place and the outcome of each item, as they come, several under way at once.

    Stopped, or left early, all of them end at their next `look`; each outcome that came before is kept by its Future.
    The caller closes it (`contextlib.closing`): left to the garbage collector, it might end in a thread it waits for.
    """
    halted = threading.Event()

    def run(item: S) -> T:
        with until(_raising(halted)):
            look()
            return work(item)

    pool = ThreadPoolExecutor(max(1, threads), thread_name_prefix="several")
    try:
        places = {pool.submit(run, item): place for place, item in enumerate(items)}
        waiting: set[Future[Any]] = set(places)
        while waiting:
            done, waiting = wait(waiting, timeout=SLICE, return_when=FIRST_COMPLETED)
            look()
            for future in done:
                yield places[future], future
    finally:
        halted.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _raising(event: threading.Event) -> Check:
    def check() -> None:
        if event.is_set():
            raise Stopped

    return check
