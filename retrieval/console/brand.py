"""The mark: three layers of sediment, drawn with the colours of the levels."""

_TOP = "M3 8c5-3 9 1 14 0s7-3 12-1v4c-5-2-7 0-12 1s-9-3-14 0z"
_MIDDLE = "M3 14c5-3 9 1 14 0s7-3 12-1v5c-5-2-7 0-12 1s-9-3-14 0z"
_BASE = "M3 21c5-3 9 1 14 0s7-3 12-1v6c-5-2-7 0-12 1s-9-3-14 0z"
LOGO = (
    '<svg viewBox="0 0 32 32" width="100%" height="100%" focusable="false" aria-hidden="true">'
    f'<path style="fill:var(--sg-level-1)" d="{_TOP}"/>'
    f'<path style="fill:var(--sg-level-3)" d="{_MIDDLE}"/>'
    f'<path style="fill:var(--sg-level-5)" d="{_BASE}"/></svg>'
)
FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
    f'<path fill="#d9b382" d="{_TOP}"/><path fill="#7fa79b" d="{_MIDDLE}"/>'
    f'<path fill="#1f5a5c" d="{_BASE}"/></svg>'
)
