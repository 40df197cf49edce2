"""Every golden file's way through the product, and every field that a decision overrules.

`ADAPTERS[file](case_input, file_data)` gives the product's output in the file's own form.
`OVERRULED[(file, case, path)]` names the decision by which ours differs there, at the path or
below it. `COMPARE[file](expected, actual)` replaces the plain deep comparison, where ids are
compared by relation only.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tests.golden import rules_adapters
from tests.golden.comparing import Difference

Adapter = Callable[[Any, Any], Any]
Comparison = Callable[[Any, Any], list[Difference]]

_OTHERS = ("search_adapters", "event_adapters", "graph_adapters")


def _modules() -> list[ModuleType]:
    names = [f"tests.golden.{name}" for name in _OTHERS]
    found = [importlib.import_module(n) for n in names if importlib.util.find_spec(n)]
    return [rules_adapters, *found]


ADAPTERS: dict[str, Adapter] = {}
OVERRULED: dict[tuple[str, str, str], str] = {}
COMPARE: dict[str, Comparison] = {}
for _module in _modules():
    ADAPTERS |= _module.ADAPTERS
    OVERRULED |= _module.OVERRULED
    COMPARE |= getattr(_module, "COMPARE", {})
