from __future__ import annotations

from tests.console.browser import Browser
from tests.console.told import Told
from tests.support.stack import RunningSystem


def test_the_overview_tells_counts_stages_tokens_and_health_in_words(
    signed_in: Browser, told: Told
) -> None:
    signed_in.open(f"/overview?namespace={told.namespace}")
    signed_in.picture("overview")
    assert "Memory is up to date" in signed_in.text
    figures = dict(
        zip(signed_in.texts(".sg-figure-name"), signed_in.texts(".sg-figure-value"), strict=True)
    )
    counts = told.http.get(told.written).json()["counts"]
    assert figures["Turns"] == "40"
    assert figures["Blocks ready"] == str(counts["blocks"]["ready"])
    assert figures["Events that hold"] == str(counts["events"]["active"])
    assert "Tokens and budget" in signed_in.text
    assert "Nothing failed." in signed_in.text
    assert signed_in.api_queries <= 10


def test_a_failed_job_is_told_with_its_reason_and_tried_again(
    signed_in: Browser, system: RunningSystem, told: Told
) -> None:
    namespace = f"{told.namespace}:failing"
    failing = {"block_turn_size": 1, "provider": "scripted", "model": "scripted"}
    system.script.fail_for_good()
    told.http.put(f"/v1/namespaces/{namespace}", json=failing).raise_for_status()
    turn = {"receipt_id": "f1", "messages": [{"role": "user", "content": "Ann has a red boat."}]}
    told.http.post(f"/v1/namespaces/{namespace}/turns", json=turn).raise_for_status()
    query = {"namespace": namespace, "state": "dead"}
    system.wait_until(lambda: told.http.get("/v1/jobs", params=query).json()["items"], "it gave up")
    system.script.follow_rules()
    signed_in.open(f"/overview?namespace={namespace}")
    assert "1 job needs a person" in signed_in.text
    signed_in.picture("overview-failed")
    signed_in.find(".sg-table button[aria-label^='Retry summarize']").click()
    signed_in.wait_for_text("Summarize starts again.")
    signed_in.wait_for_text("Memory is up to date")
