"""What an evaluation asks of the installation it measures: its vectors, its database."""

from __future__ import annotations

import httpx
import typer

from shared.errors import InvalidInput
from shared.settings import get_settings
from workers.evaluation.baselines_postgres import local_database
from workers.evaluation.client import vectors_of_api


def database_url(given: str | None) -> str:
    """Return where Postgres itself is asked: as given, the local stack's, or the settings'."""
    return given or local_database(get_settings().database_url.get_secret_value())


def embedder(client: httpx.Client, wanted: bool, name: str | None) -> str | None:
    """Return the API's provider of vectors, None where none are wanted.

    InvalidInput where the API has none, or another one than `name`.
    """
    if not wanted:
        if name is not None:
            raise typer.BadParameter(f"{name} is only of use with --vectors")
        return None
    state = vectors_of_api(client)
    found = None if state is None else str(state["provider"])
    if state is None or found is None or name not in (None, found):
        raise InvalidInput(
            f"the API at {client.base_url} has {found or 'no'} vectors: start it and its "
            f"workers with STRATAGATE_EMBEDDINGS_PROVIDER={name or 'minilm'}",
            code="no_vectors",
        )
    if state["ok"] is False:
        raise InvalidInput(f"the API's vectors do not work: {state['detail']}", code="no_vectors")
    return found
