from __future__ import annotations

from shared.settings import QUEUES, Settings
from workers.app import app, configuration, task_name


def test_every_queue_has_its_own_key_so_that_no_message_is_copied() -> None:
    queues = configuration(Settings())["task_queues"]
    assert [queue.name for queue in queues] == list(QUEUES)
    assert [queue.routing_key for queue in queues] == list(QUEUES)
    assert {queue.exchange.type for queue in queues} == {"direct"}


def test_every_queue_has_a_task_that_is_routed_to_it() -> None:
    app.loader.import_default_modules()
    routes = configuration(Settings())["task_routes"]
    for queue in QUEUES:
        assert task_name(queue) in app.tasks
        assert routes[task_name(queue)]["queue"] == queue


def test_a_message_is_acknowledged_late_and_never_returns_a_result() -> None:
    settings = configuration(Settings())
    assert settings["task_acks_late"] is True
    assert settings["task_acks_on_failure_or_timeout"] is True
    assert settings["task_reject_on_worker_lost"] is True
    assert settings["worker_prefetch_multiplier"] == 1
    assert settings["task_ignore_result"] is True
    assert settings["result_backend"] is None
    assert settings["accept_content"] == ["json"]


def test_a_task_ends_before_the_broker_would_deliver_it_again() -> None:
    settings = configuration(Settings())
    redelivery = settings["broker_transport_options"]["visibility_timeout"]
    assert settings["task_soft_time_limit"] < settings["task_time_limit"] < redelivery
