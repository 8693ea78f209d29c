"""Markdown pages: a value of a profile is shown as text, never read as Markdown or HTML.

A template's ``{{ value }}`` is escaped by default. Its filters are the exceptions: ``code`` shows a
value as a code span, and ``as_is`` keeps Markdown that was escaped before, or a name in a block of
code.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jinja2 import Environment, StrictUndefined, Template

from trainyard.model.quantity import counted
from trainyard.render.attributes import owner
from trainyard.render.folder import templates_folder

_SPECIAL = re.compile(r"[\\`*_\[\]<>|~&#$]|:(?=//)|(?i:(?<=www))\.")
"""Characters that begin emphasis, links, code, HTML, entities, headings, cells or mathematics, or
make a URL a link."""

_NO_CODE = re.compile(r"[`|\\]")
"""Characters that end a code span, or a table's cell inside of one."""


class Markdown(str):
    """Text that is Markdown already and is not escaped again."""

    __slots__ = ()


def text(value: object) -> Markdown:
    r"""Return a value as one line of Markdown that shows it, special characters escaped.

    It may be anywhere but at the begin of a line, also in a cell of a table, e.g. ``a \| b`` for
    ``a | b``.
    """
    return (
        value
        if isinstance(value, Markdown)
        else Markdown(_SPECIAL.sub(r"\\\g<0>", _one_line(value)))
    )


def code(value: object) -> Markdown:
    """Return a value as a code span; as text where a code span can't hold it."""
    line = _one_line(value)
    return text(line) if not line or _NO_CODE.search(line) else Markdown(f"`{line}`")


def as_is(value: object) -> Markdown:
    """Return Markdown, or a line of a block of code, as it is: its spaces may be of a name."""
    return Markdown(re.sub(r"[\t\n\r]+", " ", str(value)))


def _one_line(value: object) -> str:
    return re.sub(r"\s+", " ", str(value))


class Pages(Environment):
    """An environment whose templates read attributes of views too."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return an attribute of an object of the model, or of its view."""
        return super().getattr(owner(obj, attribute), attribute)


@cache
def page(name: str) -> Template:
    """Return the template of a page."""
    environment = Pages(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=text,
    )
    environment.globals["counted"] = counted
    environment.filters.update({"code": code, "as_is": as_is})
    return environment.from_string((templates_folder() / name).read_text(encoding="utf-8"))
