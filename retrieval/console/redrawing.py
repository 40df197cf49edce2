"""Charts follow the theme: their colours are read from the page, and read again when it changes."""

from __future__ import annotations

from nicegui import ui

_WATCH = """
new MutationObserver(() => {{
  const dark = document.body.classList.contains('body--dark');
  if (window.sgDark{id} === dark) return;
  window.sgDark{id} = dark;
  emitEvent('sg-theme-{id}');
}}).observe(document.body, {{attributes: true, attributeFilter: ['class']}});
window.sgDark{id} = document.body.classList.contains('body--dark');
"""


def redraw_with_theme(chart: ui.echart) -> None:
    """Draw a chart again whenever the page turns light or dark."""
    ui.on(f"sg-theme-{chart.id}", chart.update)
    ui.add_body_html(f"<script>{_WATCH.format(id=chart.id)}</script>")
