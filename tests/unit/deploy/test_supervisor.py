import io
import signal
import socket
import sys
import threading
import time

import psutil
import pytest

from deploy.local.faults import Interrupted, ServerFailed
from deploy.local.processes import Child, ProcessSpec, end_leftover, is_alive
from deploy.local.services import Addresses, service_specs
from deploy.local.supervisor import Supervisor, next_pause_s
from deploy.local.terminal import Terminal


@pytest.fixture
def screen():
    return io.StringIO()


@pytest.fixture
def supervisor(screen):
    made = Supervisor(Terminal(screen), lambda: None)
    yield made
    made.stop()


def child(tmp_path, screen, script: str, *, name: str = "part", **options) -> Child:
    spec = ProcessSpec(name, (sys.executable, "-u", "-c", script), {}, **options)
    return Child(spec, logs=tmp_path, terminal=Terminal(screen))


def until(condition, limit_s: float = 20.0) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)


SERVE = "import time; print('it is ready.'); time.sleep(600)"
DEAF = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "print('it is ready.'); time.sleep(600)"
)


def test_lines_reach_the_terminal_with_their_name_and_the_log_without(tmp_path, screen, supervisor):
    part = child(tmp_path, screen, SERVE, ready_marker="is ready.")
    supervisor.start(part)
    supervisor.wait_ready(part, limit_s=20)
    until(lambda: "part      | it is ready." in screen.getvalue())
    assert part.log_path.read_text() == "it is ready.\n"


def test_a_crashed_part_is_started_again_and_that_is_said(tmp_path, screen, supervisor):
    part = child(tmp_path, screen, SERVE, ready_marker="is ready.")
    supervisor.start(part)
    supervisor.wait_ready(part, limit_s=20)
    supervisor.watch()
    first = part.mark()
    part.kill()
    until(lambda: part.mark() not in (None, first))
    said = screen.getvalue()
    assert "part was ended by SIGKILL; it starts again in 0.5 s" in said


def probed(supervisor: Supervisor, name: str, times: int) -> None:
    for _ in range(times):
        supervisor._probe(supervisor._find(name))


def test_a_part_that_runs_but_no_longer_answers_is_ended_and_started_again(
    tmp_path, screen, supervisor
):
    answers = [True, False, False, True, False, False, False]
    part = child(tmp_path, screen, SERVE, ready_marker="is ready.", answers=lambda: answers.pop(0))
    supervisor.start(part)
    supervisor.wait_ready(part, limit_s=20)
    first = part.mark()
    probed(supervisor, "part", times=6)
    assert part.mark() == first
    probed(supervisor, "part", times=1)
    assert not part.is_running()
    assert "part runs but did not answer 3 times" in screen.getvalue()
    supervisor.watch()
    until(lambda: part.mark() not in (None, first))


def test_a_part_that_has_not_answered_yet_is_given_time_to_start(tmp_path, screen, supervisor):
    part = child(tmp_path, screen, SERVE, ready_marker="is ready.", answers=lambda: False)
    supervisor.start(part)
    probed(supervisor, "part", times=4)
    assert part.is_running()
    supervisor._find("part").started_at -= 3600
    probed(supervisor, "part", times=3)
    assert not part.is_running()


def test_a_hung_server_does_not_answer(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as hung:
        (api,) = (
            spec
            for spec in service_specs(
                Addresses(hung.getsockname()[1], hung.getsockname()[1], 0),
                {},
                flower_auth="",
                concurrency=1,
            )
            if spec.name == "api"
        )
        began = time.monotonic()
        assert api.answers is not None
        assert not api.answers()
        assert time.monotonic() - began < 20


def test_back_off_doubles_to_a_bound_and_a_settled_life_forgives():
    pauses = [0.5]
    for _ in range(8):
        pauses.append(next_pause_s(pauses[-1], lived_s=1))
    assert pauses == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    assert next_pause_s(30, lived_s=61) == 0.5


def test_a_part_that_ends_before_it_is_ready_fails_with_its_last_lines(
    tmp_path, screen, supervisor
):
    part = child(tmp_path, screen, "print('no database'); raise SystemExit(3)", ready_marker="x")
    supervisor.start(part)
    until(lambda: "no database" in screen.getvalue())
    with pytest.raises(ServerFailed, match=r"part ended with code 3(.|\n)*no database"):
        supervisor.wait_ready(part, limit_s=20)


def test_a_held_part_stays_down_until_it_is_released(tmp_path, screen, supervisor):
    part = child(tmp_path, screen, SERVE, ready_marker="is ready.")
    supervisor.start(part)
    supervisor.wait_ready(part, limit_s=20)
    supervisor.hold("part")
    for _ in range(3):
        supervisor._look_after(supervisor._find("part"))
    assert not part.is_running()
    supervisor.release("part")
    assert part.is_running()


def test_a_part_deaf_to_the_first_signal_gets_the_next_and_leaves_no_children(tmp_path, screen):
    # What a shell runs in the background is born deaf to SIGQUIT, and so are its children.
    script = (
        "import signal, subprocess, sys; signal.signal(signal.SIGQUIT, signal.SIG_DFL);"
        "p = subprocess.Popen([sys.executable, '-c', "
        "'import time; time.sleep(600)']); print(p.pid);" + DEAF
    )
    steps = ((signal.SIGTERM, 0.2), (signal.SIGQUIT, 5.0))
    part = child(tmp_path, screen, script, ready_marker="is ready.", stop_steps=steps)
    part.start()
    until(part.is_ready)
    grandchild = int(part.log_path.read_text().split()[0])
    part.stop()
    assert part.how_it_ended() == "was ended by SIGQUIT"
    until(lambda: not _lives(grandchild))


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_hurry_cuts_the_patience_short(tmp_path, screen):
    part = child(tmp_path, screen, DEAF, ready_marker="is ready.")
    part.start()
    until(part.is_ready)
    hurry = threading.Event()
    hurry.set()
    began = time.monotonic()
    part.stop(hurry=hurry)
    assert time.monotonic() - began < 5
    assert part.how_it_ended() == "was ended by SIGKILL"


def test_parts_stop_in_the_reverse_order_of_their_start(screen):
    order = []

    class Fake:
        def __init__(self, name):
            self.name = name

        def start(self):
            order.append(f"start {self.name}")

        def stop(self, *, hurry=None):
            order.append(f"stop {self.name}")

    supervisor = Supervisor(Terminal(screen), lambda: None)
    for name in ("postgres", "valkey", "worker", "api"):
        supervisor.start(Fake(name))
    supervisor.stop()
    assert order[4:] == ["stop api", "stop worker", "stop valkey", "stop postgres"]


def test_one_part_that_resists_does_not_keep_the_others_running(screen):
    stopped = []

    class Fake:
        def __init__(self, name):
            self.name = name

        def start(self):
            pass

        def stop(self, *, hurry=None):
            stopped.append(self.name)
            if self.name == "api":
                raise ServerFailed("api resists")

    supervisor = Supervisor(Terminal(screen), lambda: None)
    for name in ("postgres", "api"):
        supervisor.start(Fake(name))
    with pytest.raises(ServerFailed, match="api resists"):
        supervisor.stop()
    assert stopped == ["api", "postgres"]


def test_an_end_asked_for_while_starting_interrupts_the_start(tmp_path, screen, supervisor):
    part = child(tmp_path, screen, SERVE, ready_marker="never")
    supervisor.start(part)
    supervisor.request_end()
    with pytest.raises(Interrupted):
        supervisor.wait_ready(part, limit_s=20)
    assert not supervisor.hurry.is_set()
    supervisor.request_end()
    assert supervisor.hurry.is_set()


def test_a_leftover_is_known_by_its_birth_and_never_mistaken(tmp_path, screen):
    part = child(tmp_path, screen, SERVE, ready_marker="is ready.")
    part.start()
    until(part.is_ready)
    mark = part.mark()
    assert mark is not None
    assert is_alive(mark)
    impostor = type(mark)(mark.pid, mark.created - 100)
    assert end_leftover(impostor) is False
    assert part.is_running()
    assert end_leftover(mark) is True
    assert not is_alive(mark)
    part.kill()


def test_a_terminal_that_went_away_does_not_end_the_stack():
    gone = io.StringIO()
    terminal = Terminal(gone)
    gone.close()
    terminal.line("api", "one")
    terminal.line("api", "two")
