"""Reports of runs that were traced."""

import html
import json
import os

from ._context import current
from ._library import ffi, lib, take_text

_TEXT, _JSON, _HTML = 0, 1, 3


class Trace:
    """What the trace of a run says; a notebook shows its page."""

    def __init__(self, text, data, page):
        self.text, self.data, self.page = text, data, page

    def __str__(self):
        return self.text

    def __repr__(self):
        return (f"<polytile.Trace of {self.data['n_operations']} operations: "
                f"{len(self.data['advice'])} things to change>")

    def _repr_html_(self):
        return (f'<iframe srcdoc="{html.escape(self.page)}" style="width: 100%; height: 45em; '
                'border: 0"></iframe>')

    def save(self, path):
        """Write the page, which needs no server, to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.page)


def report(path):
    """Say of a run that was traced to a file how busy devices were, what moved against the lower
    bound, and what to change."""
    context = current()
    made, text = ffi.new("polytile_trace **"), ffi.new("char **")
    context.require(lib.polytile_trace_read(context.handle, os.fsencode(path), made))
    try:
        written = []
        for form in (_TEXT, _JSON, _HTML):
            context.require(lib.polytile_trace_to_string(made[0], form, text))
            written.append(take_text(text[0]))
    finally:
        lib.polytile_trace_destroy(made[0])
    return Trace(written[0], json.loads(written[1]), written[2])
