from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from shared.settings import Settings
from workers.models.per_step import model_for
from workers.models.port import ModelError, TaskKind
from workers.models.registry import build_model

URL = "http://models.test/v1/"


def _settings(**changes: Any) -> Settings:
    values: dict[str, Any] = {
        "model_provider": "openai",
        "model_name": "general",
        "model_base_url": URL,
    }
    return Settings(**(values | changes))


def test_a_step_has_its_own_model_where_settings_name_one() -> None:
    model = build_model(_settings(model_for_extract="careful", model_for_import="quick"))
    names = {kind.value: model_for(model, kind).name for kind in TaskKind}
    assert names == {
        "summarize": "general",
        "extract": "careful",
        "project": "general",
        "import_decide": "quick",
        "import_recover": "quick",
    }


def test_a_policys_model_holds_for_every_step() -> None:
    settings = _settings(model_for_extract="careful")
    model = build_model(settings, provider="openai", name="of-the-policy")
    assert {model_for(model, kind).name for kind in TaskKind} == {"of-the-policy"}


def test_an_unknown_provider_is_an_error_of_the_job_and_not_of_the_process() -> None:
    with pytest.raises(ModelError) as raised:
        build_model(Settings(), provider="nobody", name="x")
    assert raised.value.code == "unknown_provider"


@pytest.mark.parametrize(
    "url",
    [None, "", "models.test/v1", "ftp://models.test", "http://", "http://u:pw@models.test/v1",
     "http://models.test/v1?key=sk-abc"],
)  # fmt: skip
def test_an_address_that_cannot_work_or_holds_a_secret_is_refused_unrepeated(
    url: str | None,
) -> None:
    with pytest.raises(ModelError) as raised:
        build_model(_settings(model_base_url=url))
    assert raised.value.code == "model_not_configured"
    assert not {"pw", "sk-abc"} & set(raised.value.detail.replace("@", " ").split())


def test_a_key_that_no_header_may_hold_is_refused_unrepeated() -> None:
    with pytest.raises(ModelError) as raised:
        build_model(_settings(model_api_key=SecretStr("sk-top\nsecret")))
    assert "secret" not in raised.value.detail


def test_neither_model_nor_settings_show_the_key_or_the_address() -> None:
    settings = _settings(model_api_key=SecretStr("sk-topsecret"), model_for_project="p")
    shown = f"{settings!r} {build_model(settings)!r}"
    assert "sk-topsecret" not in shown
    assert "models.test" not in repr(build_model(settings))
