"""The `stratagate` command: loads the one command of all services' that is asked for.

Each command, or group of commands, is an entry point `stratagate.commands` by its name, so that
this file imports none of them, and none waits for what another needs.
"""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, entry_points

import typer

from shared.errors import StrataGateError


def main() -> None:
    """Run the command line; errors of StrataGate become one line and exit code 1."""
    app = command_line(sys.argv[1] if len(sys.argv) > 1 else None)
    try:
        app()
    except StrataGateError as error:
        from rich.console import Console  # noqa: PLC0415 - most calls end without an error

        Console(stderr=True).print(f"[bold red]{error.code}[/]: {error.detail}", highlight=False)
        sys.exit(1)


def command_line(asked: str | None = None) -> typer.Typer:
    """Return the application with the command of that name alone, or with all if there is none."""
    app = typer.Typer(
        name="stratagate",
        no_args_is_help=True,
        pretty_exceptions_show_locals=False,  # locals may hold keys
    )
    app.callback()(_stratagate)
    offered = sorted(entry_points(group="stratagate.commands"), key=lambda entry: entry.name)
    for entry in [one for one in offered if one.name == asked] or offered:
        _add(app, entry)
    return app


def _stratagate() -> None:
    """Long-term memory for AI agents: traceable, gated, tenant-safe."""


def _add(app: typer.Typer, entry: EntryPoint) -> None:
    loaded = entry.load()
    if isinstance(loaded, typer.Typer):
        app.add_typer(loaded, name=entry.name)
    else:
        app.command(entry.name)(loaded)


if __name__ == "__main__":
    main()
