"""How many examples the properties of the rules are tried on: few each time, many on demand.

`STRATAGATE_TEST_FULL` set to anything but nothing chooses the long form.
"""

from __future__ import annotations

import os

from hypothesis import settings

# No deadline: on a busy machine one slow example says nothing about a rule.
settings.register_profile(
    "fast", deadline=None, max_examples=40, derandomize=bool(os.environ.get("CI"))
)
settings.register_profile("full", deadline=None, max_examples=500, print_blob=True)
settings.load_profile("full" if os.environ.get("STRATAGATE_TEST_FULL") else "fast")
