from __future__ import annotations

from typing import Any

import pytest

from shared.auth import issue_key
from shared.domain.tenancy import Permission
from tests.console.browser import Browser
from tests.console.told import Told


def policy(mine: Told) -> dict[str, Any]:
    """Return the policy that holds for the namespace."""
    answer = mine.http.get(mine.written)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.fixture(autouse=True)
def as_begun(mine: Told) -> None:
    """Begin each test with the same policy, whatever the one before has set."""
    put = mine.http.put(mine.written, json={"block_turn_size": 4})
    assert put.status_code == 200, put.text


def test_a_new_block_size_is_saved_and_the_suggestion_adopted(
    signed_in: Browser, mine: Told
) -> None:
    signed_in.open(f"/settings?namespace={mine.namespace}")
    assert signed_in.api_queries <= 10
    signed_in.type_into("Block size, this namespace", "8")
    signed_in.wait_for_text("λ 0.60 would keep the decay per turn as it is.")
    assert len(signed_in.all(".sg-fading-strip")) == 2
    assert "L5 for" in str(signed_in.find(".sg-fading-strip").get_attribute("aria-label"))
    signed_in.picture("settings")
    signed_in.press("Save this namespace")
    signed_in.wait_for_text("The API suggests λ 0.60")
    held = policy(mine)["policy"]
    assert (held["block_turn_size"], held["block_decay_lambda"]) == (8, 0.3)
    signed_in.press("Adopt λ 0.60")
    signed_in.wait_for_text("above 0.40")
    held = policy(mine)["policy"]
    assert (held["block_turn_size"], held["block_decay_lambda"]) == (8, 0.6)


def test_what_was_not_touched_is_not_sent(signed_in: Browser, mine: Told) -> None:
    signed_in.open(f"/settings?namespace={mine.namespace}")
    signed_in.press("Save this namespace")
    signed_in.wait_for_text("Nothing is changed.")
    signed_in.type_into("Budget a day, this namespace", "50000")
    signed_in.press("Save this namespace")
    signed_in.wait_for_text("It holds from now on")
    assert policy(mine)["overrides"] == {"block_turn_size": 4, "token_budget": 50_000}


def test_what_is_refused_is_told_in_words(signed_in: Browser, mine: Told) -> None:
    signed_in.open(f"/settings?namespace={mine.namespace}")
    signed_in.type_into("Provider, this namespace", "somebody")
    signed_in.press("Save this namespace")
    assert "provider and model together" in signed_in.find(".sg-page [role=alert]").text
    assert "provider" not in policy(mine)["overrides"]


def test_an_entry_follows_the_default_again(signed_in: Browser, mine: Told) -> None:
    signed_in.open(f"/settings?namespace={mine.namespace}")
    signed_in.press("Follow the default: Block size, this namespace")
    signed_in.wait_for_text("It holds from now on")
    assert "block_turn_size" not in policy(mine)["overrides"]


def test_a_key_that_may_only_read_changes_nothing(browser: Browser, mine: Told) -> None:
    with mine.system.database.write(mine.tenant.tenant_id) as tx:
        key = issue_key(tx, label="reader", permissions=frozenset({Permission.READ})).key
    browser.sign_in(key, path=f"/settings?namespace={mine.namespace}")
    assert "with a key that administers it" in browser.text
    browser.type_into("Block size, this namespace", "9")
    browser.press("Save this namespace")
    assert "admin" in browser.find(".sg-page [role=alert]").text
    assert policy(mine)["policy"]["block_turn_size"] == 4
