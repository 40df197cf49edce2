"""The examples of README.md run as they stand."""

import re
import shutil
import subprocess

import pytest

from tests.support.databases import Tenant
from tests.support.stack import ROOT, RunningSystem

README = (ROOT / "README.md").read_text(encoding="utf-8")


def example(language: str, containing: str) -> str:
    """The one fenced block of README.md in this language that contains these words."""
    blocks: list[str] = re.findall(
        rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL
    )
    [found] = [block for block in blocks if containing in block]
    return found


def test_the_python_example_prints_what_was_just_said(
    system: RunningSystem, tenant_here: Tenant
) -> None:
    done = system.run_python("-c", example("python", "httpx"), key=tenant_here.admin_key)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "user And the alarm is off on Tuesdays.",
        "assistant Noted.",
    ]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed here")
def test_the_curl_example_answers_with_what_was_just_said(
    system: RunningSystem, tenant_here: Tenant
) -> None:
    environment = system.environment | {"STRATAGATE_API_KEY": tenant_here.admin_key}
    done = subprocess.run(  # noqa: S603 - the words of our own README
        ["/bin/sh", "-euc", example("sh", "curl")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert '"duplicate":false' in done.stdout.replace(" ", "")
    assert "The spare key is under the blue flowerpot." in done.stdout
