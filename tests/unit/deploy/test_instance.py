import stat
from dataclasses import replace

import pytest

from deploy.commands import _parser
from deploy.local.faults import FolderInUse, LocalFault
from deploy.local.file_lock import FileLock, hold_lock
from deploy.local.instance import InstanceFolder, InstanceState, ProcessMark, acquire
from deploy.local.private_files import read_state, write_private
from deploy.up import run_up, summary

STATE = InstanceState(
    status="ready",
    supervisor_pid=4711,
    api_url="http://127.0.0.1:8080",
    retrieval_url="http://127.0.0.1:8080",
    flower_url="http://127.0.0.1:5555",
    console_url="http://127.0.0.1:8091",
    database_url="postgresql://postgres:s3cret@127.0.0.1:21000/stratagate",
    processes={"api": ProcessMark(17, 1_700_000_000.5)},
)


@pytest.fixture
def folder(tmp_path):
    made = InstanceFolder(tmp_path / "data")
    made.create()
    return made


def test_the_state_comes_back_as_it_was_written(folder):
    folder.write(STATE)
    assert folder.read() == STATE


def test_a_folder_that_never_held_an_instance_has_no_state(folder):
    assert folder.read() is None
    assert folder.is_running() is False


def test_a_half_written_state_is_none_rather_than_a_crash(folder):
    folder.state_file.write_text('{"status": "rea')
    assert folder.read() is None


def test_state_keys_and_logs_are_for_their_owner_alone(folder):
    folder.write(STATE)
    write_private(folder.key_file, "sg_x\n")
    assert stat.S_IMODE(folder.state_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.key_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.logs.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.key_file.parent.stat().st_mode) == 0o700


def test_a_second_instance_on_one_folder_is_told_who_has_it_and_what_to_do(folder):
    lock = acquire(folder)
    folder.write(STATE)
    with pytest.raises(FolderInUse) as refused:
        acquire(folder)
    text = str(refused.value)
    assert "4711" in text
    assert "http://127.0.0.1:8080" in text
    assert f"deploy down --data {folder.root}" in text
    assert folder.is_running() is True
    lock.release()
    assert folder.is_running() is False
    acquire(folder).release()


def test_a_place_where_no_folder_can_be_made_is_told_in_words(tmp_path):
    taken = tmp_path / "file"
    taken.touch()
    with pytest.raises(LocalFault, match="--data"):
        InstanceFolder(taken).create()
    options = _parser().parse_args(["up", "--detach", "--data", str(taken / "below")])
    assert run_up(options) == 1


def test_a_lock_is_waited_for_only_so_long(tmp_path):
    holder = FileLock(tmp_path / "x.lock")
    assert holder.try_acquire()
    with pytest.raises(FolderInUse, match=r"x\.lock"), hold_lock(tmp_path / "x.lock", wait_s=0.1):
        pytest.fail("two held it")
    holder.release()
    with hold_lock(tmp_path / "x.lock", wait_s=0.1):
        assert not FileLock(tmp_path / "x.lock").try_acquire()


def test_the_summary_names_files_of_secrets_and_no_secret(folder):
    text = summary(folder, STATE)
    assert "http://127.0.0.1:8080/docs" in text
    assert "http://127.0.0.1:8091" in text
    assert str(folder.key_file) in text
    assert str(folder.flower_file) in text
    assert str(folder.logs) in text
    assert "s3cret" not in text
    assert "retrieval" not in text


def test_the_summary_of_services_apart_names_both(folder):
    text = summary(folder, replace(STATE, retrieval_url="http://127.0.0.1:8090"))
    assert "http://127.0.0.1:8090" in text


def test_reading_state_ignores_what_is_no_object(tmp_path):
    path = tmp_path / "s.json"
    path.write_text("[1]")
    assert read_state(path) is None
