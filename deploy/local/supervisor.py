"""Keeps the parts of a stack running: starts them in order, revives what dies or no longer
answers, stops them in the reverse order. A part is a server or a process, each on its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from deploy.local.faults import Interrupted, LocalFault, ServerFailed
from deploy.local.terminal import Terminal

_LOOK_EVERY_S = 0.25
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0
_SETTLED_S = 60.0
_PROBE_EVERY_S = 5.0
_MOST_SILENCES = 3
_FIRST_ANSWER_S = 90.0
_VOICE = "stack"


class Part(Protocol):
    """Something that runs, may die, and can be started again."""

    @property
    def name(self) -> str:
        """The name people read."""
        ...

    def start(self) -> None:
        """Start it, or join it when it runs already."""
        ...

    def is_running(self) -> bool:
        """Tell whether it lives."""
        ...

    def is_ready(self) -> bool:
        """Tell whether it does its work."""
        ...

    def answers(self) -> bool:
        """Tell whether it still answers; may take seconds. A part that is never asked does."""
        ...

    def how_it_ended(self) -> str:
        """Return its end in words."""
        ...

    def last_lines(self) -> str:
        """Return the end of its log."""
        ...

    def stop(self, *, hurry: threading.Event | None = None) -> None:
        """End it cleanly; at once when `hurry` is set."""
        ...

    def kill(self) -> None:
        """End it as a crash would."""
        ...


@dataclass(slots=True)
class _Watch:
    part: Part
    pause_s: float = _FIRST_PAUSE_S
    started_at: float = 0.0
    revive_at: float | None = None
    is_held: bool = False
    has_answered: bool = False
    silences: int = 0

    def begin_life(self, now: float) -> None:
        """Note that the part was started anew; what it did before counts no more."""
        self.started_at, self.revive_at = now, None
        self.has_answered, self.silences = False, 0

    def is_in(self, life: float) -> bool:
        """Tell whether the part runs, wanted, in the life that began then."""
        return not self.is_held and self.started_at == life and self.part.is_running()


def next_pause_s(pause_s: float, lived_s: float) -> float:
    """Return the next back-off: doubled up to 30 s, or the first again after a settled life."""
    return _FIRST_PAUSE_S if lived_s >= _SETTLED_S else min(pause_s * 2, _LONGEST_PAUSE_S)


class Supervisor:
    """Owns the parts of one stack; `on_change` is called when a part has been (re)started."""

    def __init__(self, terminal: Terminal, on_change: Callable[[], None]) -> None:
        self._terminal = terminal
        self._on_change = on_change
        self._watches: list[_Watch] = []
        self._lock = threading.RLock()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self.hurry = threading.Event()

    def say(self, text: str) -> None:
        """Print a line of the stack itself."""
        self._terminal.line(_VOICE, text)

    def start(self, part: Part) -> None:
        """Start a part and keep it running from now on."""
        self.checkpoint()
        with self._lock:
            watch = _Watch(part, started_at=time.monotonic())
            self._watches.append(watch)
            part.start()
        self._on_change()

    def wait_ready(self, part: Part, *, limit_s: float) -> None:
        """Wait until the part does its work; ServerFailed when it ends or takes too long."""
        deadline = time.monotonic() + limit_s
        while not part.is_ready():
            self.checkpoint()
            if not part.is_running():
                raise ServerFailed(f"{part.name} {part.how_it_ended()}. {part.last_lines()}")
            if time.monotonic() > deadline:
                raise ServerFailed(
                    f"{part.name} was not ready after {limit_s:g} s. {part.last_lines()}"
                )
            time.sleep(0.05)

    def request_end(self) -> None:
        """Ask for the end; a second time, ask for it in a hurry. Safe in a signal handler."""
        if self._ending.is_set():
            self.hurry.set()
        self._ending.set()

    def wait_for_end(self) -> None:
        """Return when the end was asked for."""
        self._ending.wait()

    def checkpoint(self) -> None:
        """Raise Interrupted when the end was asked for while the stack is still starting."""
        if self._ending.is_set():
            raise Interrupted("Stopped while starting.")

    def watch(self) -> None:
        """Begin to revive parts that die, and to end those that run but no longer answer."""
        self._thread = threading.Thread(target=self._loop, name="supervisor", daemon=True)
        self._thread.start()
        # Apart, as a question to a hung part takes seconds; not joined, as it changes nothing
        # once the end was asked for.
        threading.Thread(target=self._probe_loop, name="liveness", daemon=True).start()

    def hold(self, name: str) -> None:
        """Stop a part and leave it down until `release`."""
        with self._lock:
            watch = self._find(name)
            watch.is_held = True
            watch.part.stop()

    def release(self, name: str) -> None:
        """Start a held part again."""
        with self._lock:
            watch = self._find(name)
            watch.part.start()
            watch.is_held = False
            watch.begin_life(time.monotonic())
        self._on_change()

    def part(self, name: str) -> Part:
        """Return a part by its name."""
        return self._find(name).part

    def stop(self) -> None:
        """Stop all parts, the last started first; every one is tried even when one resists.

        Raises ServerFailed with what could not be stopped.
        """
        self._ending.set()
        if self._thread is not None:
            self._thread.join()
        resisted = []
        with self._lock:
            for watch in reversed(self._watches):
                try:
                    watch.part.stop(hurry=self.hurry)
                except LocalFault as fault:
                    resisted.append(str(fault))
            self._watches.clear()
        if resisted:
            raise ServerFailed(" ".join(resisted))

    def _find(self, name: str) -> _Watch:
        return next(watch for watch in self._watches if watch.part.name == name)

    def _loop(self) -> None:
        while not self._ending.wait(_LOOK_EVERY_S):
            for watch in list(self._watches):
                if not self._ending.is_set():
                    self._look_after(watch)

    def _look_after(self, watch: _Watch) -> None:
        with self._lock:
            if watch.is_held or watch.part.is_running():
                return
            now = time.monotonic()
            if watch.revive_at is None:
                watch.revive_at = now + watch.pause_s
                ended = watch.part.how_it_ended()
                self.say(f"{watch.part.name} {ended}; it starts again in {watch.pause_s:g} s")
                watch.pause_s = next_pause_s(watch.pause_s, now - watch.started_at)
            elif now >= watch.revive_at:
                self._revive(watch, now)

    def _revive(self, watch: _Watch, now: float) -> None:
        watch.begin_life(now)
        try:
            watch.part.start()
        except (LocalFault, OSError) as fault:
            self.say(f"{watch.part.name} could not be started: {fault}")
        else:
            self._on_change()

    def _probe_loop(self) -> None:
        while not self._ending.wait(_PROBE_EVERY_S):
            for watch in list(self._watches):
                if not self._ending.is_set():
                    self._probe(watch)

    def _probe(self, watch: _Watch) -> None:
        """Ask a part whether it answers; after three silences in a row, end it to be revived."""
        life = watch.started_at
        if not watch.is_in(life):
            return
        does_answer = watch.part.answers()
        with self._lock:
            if self._ending.is_set() or not watch.is_in(life):
                return
            if does_answer:
                watch.has_answered, watch.silences = True, 0
            elif watch.has_answered or time.monotonic() - life > _FIRST_ANSWER_S:
                watch.silences += 1
                if watch.silences >= _MOST_SILENCES:
                    self.say(
                        f"{watch.part.name} runs but did not answer {watch.silences} times; "
                        "it is ended and starts again"
                    )
                    watch.part.kill()
