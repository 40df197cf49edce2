import psutil
import redis

from deploy.local.valkey import find_valkey, start_valkey
from tests.support.servers import new_valkey


def test_messages_survive_a_restart_and_the_url_stays(tmp_path):
    broker = new_valkey(tmp_path)
    with redis.Redis.from_url(broker.url) as client:
        client.rpush("queue", "one")
    again = broker.restart()
    assert again.url == broker.url
    with redis.Redis.from_url(again.url) as client:
        assert client.lrange("queue", 0, -1) == [b"one"]
    again.stop()
    assert not again.is_ready()
    assert find_valkey(again.data_dir) is None


def test_a_killed_broker_starts_again_with_what_was_written(tmp_path):
    broker = new_valkey(tmp_path)
    with redis.Redis.from_url(broker.url) as client:
        client.rpush("queue", "one")
        client.execute_command("WAITAOF", 1, 0, 5_000)
    broker.kill()
    assert broker.pid() is None
    again = start_valkey(broker.data_dir)
    with redis.Redis.from_url(again.url) as client:
        assert client.lrange("queue", 0, -1) == [b"one"]
    again.stop()


def test_a_second_start_joins_the_running_broker(tmp_path):
    broker = new_valkey(tmp_path)
    joined = start_valkey(broker.data_dir)
    assert (joined.url, joined.pid()) == (broker.url, broker.pid())
    found = find_valkey(broker.data_dir)
    assert found is not None
    assert found.url == broker.url
    joined.stop()
    assert broker.pid() is None


def test_its_password_is_in_private_files_and_in_no_process_list(tmp_path):
    broker = new_valkey(tmp_path)
    try:
        for name in ("server.json", "valkey.conf"):
            assert (broker.data_dir / name).stat().st_mode & 0o077 == 0
        assert broker.password not in " ".join(psutil.Process(broker.pid()).cmdline())
    finally:
        broker.stop()
