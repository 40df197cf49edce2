"""One OpenAPI document out of several: paths side by side, schemas that differ kept apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Document = dict[str, Any]


def merge_documents(documents: Sequence[Document]) -> Document:
    """Merge documents; an operation that several have is the first one's.

    A component whose name is taken by another content is renamed, and its references with it.
    """
    merged: Document = {"openapi": documents[0]["openapi"], "paths": {}, "components": {}}
    tags: dict[str, Any] = {}
    for document in documents:
        apart = _rename_clashes(document, merged["components"])
        for path, operations in apart.get("paths", {}).items():
            merged["paths"][path] = {**operations, **merged["paths"].get(path, {})}
        for kind, items in apart.get("components", {}).items():
            known = merged["components"].setdefault(kind, {})
            known.update({name: item for name, item in items.items() if name not in known})
        tags |= {tag["name"]: tag for tag in apart.get("tags", []) if tag["name"] not in tags}
    if tags:
        merged["tags"] = list(tags.values())
    return merged


def _rename_clashes(document: Document, known: Mapping[str, Mapping[str, Any]]) -> Document:
    renames: dict[str, str] = {}
    for kind, items in document.get("components", {}).items():
        taken = known.get(kind, {})
        for name, item in items.items():
            if name in taken and taken[name] != item:
                prefix = f"#/components/{kind}/"
                renames[prefix + name] = prefix + _free_name(name, {*taken, *items})
    return _renamed(document, renames) if renames else document


def _free_name(name: str, taken: set[str]) -> str:
    number = 2
    while f"{name}{number}" in taken:
        number += 1
    return f"{name}{number}"


def _renamed(document: Document, renames: Mapping[str, str]) -> Document:
    changed: Document = _replace_references(document, renames)
    for old, new in renames.items():
        _, _, kind, name = old.split("/")
        items = changed["components"][kind]
        items[new.rsplit("/", 1)[1]] = items.pop(name)
    return changed


def _replace_references(value: Any, renames: Mapping[str, str]) -> Any:
    """Return a copy with every reference renamed; discriminators map to references as well."""
    if isinstance(value, dict):
        return {key: _replace_references(item, renames) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace_references(item, renames) for item in value]
    return renames.get(value, value) if isinstance(value, str) else value
