"""Do tasks in their order by several threads; Ctrl-C or a failure ends at once, losing nothing.

The threads are daemons: what one is waiting for does not hold the process, and each finished
task has been kept already.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from typing import Final, TypeVar

TaskT = TypeVar("TaskT")
_LOOK_AGAIN_S: Final = 0.2


def in_parallel(
    tasks: Iterable[TaskT],
    do: Callable[[TaskT], None],
    *,
    threads: int,
    on_done: Callable[[], None],
) -> None:
    """Call `do` with each task. The first exception of any is raised here, and the rest is left."""
    waiting: SimpleQueue[TaskT] = SimpleQueue()
    ended: SimpleQueue[BaseException | None] = SimpleQueue()
    count = 0
    for count, task in enumerate(tasks, start=1):  # noqa: B007 - the count is what is needed
        waiting.put(task)
    stop = threading.Event()
    for _ in range(min(threads, count)):
        threading.Thread(target=_work, args=(waiting, ended, do, stop), daemon=True).start()
    try:
        for _ in range(count):
            failure = _next(ended)
            if failure is not None:
                raise failure
            on_done()
    finally:
        stop.set()


def _work(
    waiting: SimpleQueue[TaskT],
    ended: SimpleQueue[BaseException | None],
    do: Callable[[TaskT], None],
    stop: threading.Event,
) -> None:
    while not stop.is_set():
        try:
            task = waiting.get_nowait()
        except Empty:
            return
        try:
            do(task)
        except BaseException as error:  # noqa: BLE001 - raised again by who started the threads
            ended.put(error)
            return
        ended.put(None)


def _next(ended: SimpleQueue[BaseException | None]) -> BaseException | None:
    # A wait without an end would not hear Ctrl-C on every system.
    while True:
        try:
            return ended.get(timeout=_LOOK_AGAIN_S)
        except Empty:
            continue
