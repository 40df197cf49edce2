"""A real model on this machine, where its wheels are installed; off unless `-m llm` asks for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.llm.local_model import LocalModel, missing_packages, model_file, running_model


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "llm" in (config.option.markexpr or ""):
        return
    off = pytest.mark.skip(reason="off by default, as it takes minutes: pytest -m llm")
    for item in items:
        if item.get_closest_marker("llm"):
            item.add_marker(off)


@pytest.fixture(scope="session")
def local_model() -> Iterator[LocalModel]:
    missing = missing_packages()
    if missing:
        named = ", ".join(missing[:2]) + (f" and {len(missing) - 2} more" if missing[2:] else "")
        pytest.skip(f"not installed: {named} (see docs/howto/real-model.md)")
    with running_model(model_file()) as model:
        yield model
