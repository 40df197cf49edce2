"""Every golden file's way through the product, and every field that a decision overrules.

`ADAPTERS[file](case_input, file_data)` gives the product's output in the file's own form.
`OVERRULED[(file, case, path)]` names the decision by which ours differs there, at the path or
below it. `COMPARE[file](expected, actual)` replaces the plain deep comparison, where ids are
compared by relation only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.golden import event_adapters, graph_adapters, rules_adapters, search_adapters
from tests.golden.comparing import Difference

Adapter = Callable[[Any, Any], Any]
Comparison = Callable[[Any, Any], list[Difference]]

ADAPTERS: Mapping[str, Adapter] = {
    **rules_adapters.ADAPTERS,
    **search_adapters.ADAPTERS,
    **event_adapters.ADAPTERS,
    **graph_adapters.ADAPTERS,
}
OVERRULED: Mapping[tuple[str, str, str], str] = {
    **rules_adapters.OVERRULED,
    **search_adapters.OVERRULED,
    **event_adapters.OVERRULED,
    **graph_adapters.OVERRULED,
}
COMPARE: Mapping[str, Comparison] = {**event_adapters.COMPARE, **graph_adapters.COMPARE}
