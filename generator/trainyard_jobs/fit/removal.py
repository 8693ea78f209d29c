"""Parts of a job that can be removed: entries of lists, and fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trainyard.diagnostics import Step

Body = dict[str, Any]
Path = tuple[Step, ...]

_NAMES = frozenset({"name", "manager", "targetJobs"})
"""Fields that name what an entry of a list changes."""
_FRAMES = frozenset({"metadata", "spec", "template"})
"""Fields that only hold others."""


def parts(body: Any, path: Path) -> Iterator[Path]:
    """Yield the paths of the smallest parts of a value that make sense by themselves.

    An entry of a list, or a field, with neither a list of entries nor a frame inside.

    Args:
        body: the value.
        path: of the value; it is not yielded itself.
    """
    inside = body.items() if isinstance(body, dict) else enumerate(_entries(body))
    for key, value in inside:
        if key in _NAMES:
            continue
        if _is_frame(key, value) or _has_parts(value):
            yield from parts(value, (*path, key))
        else:
            yield (*path, key)


def _entries(value: Any) -> list[Any]:
    """Return the entries of a list of mappings; none of another value."""
    return value if isinstance(value, list) and any(isinstance(e, dict) for e in value) else []


def _is_frame(key: Step, value: Any) -> bool:
    return key in _FRAMES and isinstance(value, dict) and bool(value)


def _has_parts(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_is_frame(key, each) or _has_parts(each) for key, each in value.items())
    return bool(_entries(value))


def without(body: Body, paths: Sequence[Path]) -> Body:
    """Return an object without some of its parts, and without the lists that get empty."""
    for path in sorted(paths, key=lambda each: [str(step).zfill(9) for step in each], reverse=True):
        body = _without(body, path)
    return body


def _without(body: Any, path: Path) -> Any:
    step, *rest = path
    kept: Any = dict(body) if isinstance(body, dict) else list(body)
    inner = _without(body[step], tuple(rest)) if rest else []
    if inner == []:
        del kept[step]
    else:
        kept[step] = inner
    return kept


def at(body: Any, path: Path) -> Any:
    """Return the value of a path; None when it is absent."""
    for step in path:
        try:
            body = body[step]
        except (IndexError, KeyError, TypeError):
            return None
    return body


def shown(path: Path) -> str:
    """Return a path as text, e.g. ``spec.trainer.env[0]``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif str(step).isidentifier():
            text += f".{step}" if text else str(step)
        else:
            text += f'["{step}"]'
    return text
