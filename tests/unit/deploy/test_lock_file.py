import re
import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from deploy.bootstrap import LOCK, ROOT

_PIN = re.compile(r"^[a-z0-9][a-z0-9._-]*(\[[a-z,]+\])?==[^ ;]+( ; [^\\]+)? \\$")
_HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}( \\)?$")


def _lines() -> list[str]:
    return [
        line
        for line in LOCK.read_text(encoding="utf-8").splitlines()
        if line and not line.lstrip().startswith("#")
    ]


def _pins() -> dict[str, str]:
    pinned = [line.split(" ")[0] for line in _lines() if not line.startswith(" ")]
    return {
        canonicalize_name(re.sub(r"\[.*\]", "", name)): version
        for name, version in (pin.split("==") for pin in pinned)
    }


def test_every_line_is_an_exact_pin_or_one_of_its_hashes():
    odd = [line for line in _lines() if not (_PIN.match(line) or _HASH.match(line))]
    assert odd == []


def test_every_pin_is_followed_by_a_hash():
    lines = _lines()
    bare = [
        line
        for line, following in zip(lines, [*lines[1:], ""], strict=True)
        if _PIN.match(line) and not _HASH.match(following)
    ]
    assert bare == []
    assert len(_pins()) > 50


def test_it_names_no_index_and_no_address():
    text = LOCK.read_text(encoding="utf-8")
    assert "://" not in text
    option = re.compile(r"^\s*(-i|--index-url|--extra-index-url|-f|--find-links)\b", re.MULTILINE)
    assert option.search(text) is None


def test_it_holds_what_the_project_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = [
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["local"],
        *project["dependency-groups"]["test"],
    ]
    pins = _pins()
    for requirement in map(Requirement, asked):
        version = pins.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement.name} is missing: make the lock anew"
        assert requirement.specifier.contains(version, prereleases=True), requirement
