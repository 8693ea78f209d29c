"""The templates: each compiled once, and what the objects of one are."""

from __future__ import annotations

from functools import cache

from trainyard.model.manifest import Kind, kind_of
from trainyard.render.compile import Build, compile_template
from trainyard.render.folder import templates_folder


@cache
def template(name: str) -> Build:
    """Return a template, compiled once."""
    return compile_template(_text(name), f"templates/{name}.yaml.j2")


def _text(name: str) -> str:
    return (templates_folder() / f"{name}.yaml.j2").read_text(encoding="utf-8")


@cache
def read_lines(name: str) -> dict[str, str]:
    """Return the values of a template by their keys with indentation, the last of each key."""
    values = {}
    for line in _text(name).splitlines():
        key, _, value = line.partition(":")
        values[key] = value.strip()
    return values


@cache
def read_kind(name: str) -> Kind:
    """Return the kind of a template's objects."""
    version, kind = type_of(name)
    namespace = {"namespace": ""} if "  namespace" in read_lines(name) else {}
    return kind_of({"apiVersion": version, "kind": kind, "metadata": namespace})


def type_of(name: str) -> tuple[str, str]:
    """Return ``apiVersion`` and ``kind`` of a template's objects, which no variable is in."""
    values = read_lines(name)
    return values["apiVersion"], values["kind"]
