from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.tenancy import (
    Caller,
    Permission,
    Policy,
    Stages,
    check_name,
    check_thread,
    effective_policy,
)
from shared.errors import InvalidInput

SIGNS = string.ascii_letters + string.digits + "._:@-"


def caller(*permissions: Permission, namespaces: frozenset[str] | None = None) -> Caller:
    return Caller("ten_1", "key_1", frozenset(permissions), namespaces)


@pytest.mark.parametrize("permission", Permission)
def test_a_key_allows_what_it_carries_and_nothing_else(permission: Permission) -> None:
    allowed = {asked for asked in Permission if caller(permission).may(asked)}
    assert allowed == (set(Permission) if permission is Permission.ADMIN else {permission})


def test_a_key_that_carries_nothing_allows_nothing() -> None:
    assert not any(caller().may(asked) for asked in Permission)


def test_a_list_of_namespaces_is_the_whole_reach_and_no_list_reaches_all() -> None:
    assert caller().reaches("project:a")
    listed = caller(Permission.ADMIN, namespaces=frozenset({"project:a"}))
    assert listed.reaches("project:a")
    assert not listed.reaches("project:b")
    assert not listed.reaches("project:A")
    assert not caller(namespaces=frozenset()).reaches("project:a")


def test_the_defaults_are_the_documented_ones() -> None:
    policy = Policy()
    assert (policy.block_turn_size, policy.block_decay_lambda) == (12, 0.30)
    assert (policy.ingest_subagents, policy.redaction) == (False, "keep_source")
    assert policy.stages == Stages(extract=True, project=True, embed=False)


def test_the_namespace_goes_before_the_tenant_and_the_tenant_before_the_settings() -> None:
    """D46."""
    settings = Policy(block_turn_size=12, language="en", token_budget=100)
    tenant = {"block_turn_size": 8, "language": "zh"}
    namespace = {"block_turn_size": 4}
    policy = effective_policy(settings, tenant, namespace)
    assert (policy.block_turn_size, policy.language, policy.token_budget) == (4, "zh", 100)


def test_an_explicit_nothing_overrides_and_a_missing_field_does_not() -> None:
    tenant = {"retention_days": 30}
    assert effective_policy(Policy(), tenant, {}).retention_days == 30
    assert effective_policy(Policy(), tenant, {"retention_days": None}).retention_days is None


def test_stages_are_laid_over_each_other_one_by_one() -> None:
    tenant = {"stages": {"embed": True, "project": False}}
    namespace = {"stages": {"project": True, "extract": False}}
    policy = effective_policy(Policy(), tenant, namespace)
    assert policy.stages == Stages(extract=False, project=True, embed=True)


def test_laying_policies_leaves_the_defaults_and_the_layers_as_they_were() -> None:
    settings = Policy()
    tenant = {"stages": {"embed": True}, "block_turn_size": 3}
    effective_policy(settings, tenant)
    assert settings == Policy()
    assert tenant == {"stages": {"embed": True}, "block_turn_size": 3}


def test_what_an_older_release_stored_and_nobody_knows_any_more_is_passed_over() -> None:
    assert effective_policy(Policy(), {"colour": "red", "language": "en"}).language == "en"


def test_provider_and_model_are_taken_together_from_the_layer_that_gives_them() -> None:
    tenant = {"provider": "one", "model": "small"}
    namespace = {"provider": "two", "model": "large"}
    policy = effective_policy(Policy(), tenant, namespace)
    assert (policy.provider, policy.model) == ("two", "large")


@given(st.text(SIGNS, min_size=1, max_size=200).filter(lambda name: name not in (".", "..")))
def test_a_name_of_the_allowed_signs_is_returned_as_it_is(name: str) -> None:
    assert check_name(name, "/namespace") == name


@pytest.mark.parametrize(
    "name", ["a" * 200, "project:a1@b-c._d", "0", ":", "...", ".a", "..-", "a."]
)
def test_names_up_to_the_longest_are_names(name: str) -> None:
    assert check_name(name, "/namespace") == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a" * 201,
        "a b",
        "a/b",
        " a",
        "名前",
        "a\x00",
        "ａ",
        "a+b",
        "a%20b",
        "\na",
        "a\n",
        ".",
        "..",
        ".\n",
    ],
)
def test_anything_else_is_refused_naming_the_field(name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_name(name, "/namespace")
    (error,) = refused.value.errors
    assert (error.pointer, error.code) == ("/namespace", "invalid_name")


def test_the_name_of_turns_without_a_thread_is_reserved() -> None:
    """D43."""
    with pytest.raises(InvalidInput) as refused:
        check_thread("unthreaded", "/thread_id")
    (error,) = refused.value.errors
    assert (error.pointer, error.code) == ("/thread_id", "reserved_name")


@pytest.mark.parametrize("name", ["main", "unthreaded-1", "Unthreaded", "thread:unthreaded"])
def test_names_that_only_resemble_the_reserved_one_are_free(name: str) -> None:
    assert check_thread(name, "/thread_id") == name


def test_a_thread_must_be_a_name_as_well() -> None:
    with pytest.raises(InvalidInput) as refused:
        check_thread("a/b", "/thread_id")
    assert refused.value.code == "invalid_name"


def test_the_reserved_name_is_a_name_for_a_namespace() -> None:
    assert check_name("unthreaded", "/namespace") == "unthreaded"
