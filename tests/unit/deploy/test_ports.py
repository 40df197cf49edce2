import socket

import pytest

from deploy.local.faults import PortTaken
from deploy.local.ports import LOOPBACK, free_port, is_free, require_free


@pytest.fixture
def taken():
    with socket.socket() as listener:
        listener.bind((LOOPBACK, 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_port_someone_listens_on_is_not_free(taken):
    assert is_free(taken) is False


def test_a_free_port_lies_below_those_of_outgoing_connections():
    assert 20_000 <= free_port() <= 29_999


def test_the_port_of_the_last_run_is_kept_while_it_is_free(taken):
    port = free_port()
    assert free_port(preferred=port) == port
    assert free_port(preferred=taken) != taken


def test_a_taken_port_is_refused_with_its_purpose_and_the_remedy(taken):
    with pytest.raises(PortTaken, match=f"Port {taken}, wanted for the API.*--port"):
        require_free(taken, what_for="the API")
