"""From a template to a function that builds the object: ``compile_template(text, name)(context)``.

The skeleton of a template is YAML, so its object is known before any team is: what is left to do is
to put values into marks, repeat what lies in a ``for`` and leave out what lies in an ``if`` that
fails. So each YAML node becomes a closure that returns plain data, and a node without any mark or
statement becomes one constant, made once. Consecutive entries under the same statement are built as
one small mapping or list (a *piece*), and a collection is its pieces joined. No text is made, so no
value can ever be read as YAML, and constants are shared between all results: **what a build returns
must never be changed**.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from jinja2 import nodes

from trainyard.render.attributes import read
from trainyard.render.grammar import path_of, read_template
from trainyard.render.template import Part, Skeleton, parts
from trainyard.yaml_io.template_tree import Node

Scope = Mapping[str, object]
"""The variables of a template by name: model objects, Mappings, tuples and scalars."""

Build = Callable[[Scope], Any]
"""Builds plain data: dict, list, str, int or bool."""

_SCALARS = frozenset((str, int, bool))


@dataclass(frozen=True, slots=True)
class _Fixed:
    """A build that does not depend on its scope."""

    value: Any

    def __call__(self, _: Scope) -> Any:
        return self.value


def compile_template(text: str, name: str) -> Build:
    """Return the build of a template.

    The build raises LookupError when a path leads nowhere or to None, and TypeError for a value
    that is not plain data; both name template, line and text, for both are bugs of ours.

    Args:
        text: the template.
        name: how messages call it, e.g. ``team/local-queue.yaml.j2``.

    Raises:
        GrammarError: the template breaks the grammar.
    """
    skeleton, root = read_template(text, name)
    return _node(skeleton, root, 0)


def _node(skeleton: Skeleton, node: Node, depth: int) -> Build:
    if node.kind == "mapping":
        return _collection(skeleton, dict, parts(skeleton, node), depth)
    if node.kind == "sequence":
        return _collection(skeleton, list, parts(skeleton, node), depth)
    slot = skeleton.slots.get(str(node.value))
    return _Fixed(node.value) if slot is None else _insertion(slot, skeleton.where(node.line))


def _collection(skeleton: Skeleton, empty: type, inside: Sequence[Part], depth: int) -> Build:
    """Return the build of a mapping or list, inside of ``depth`` statements."""
    pieces = []
    for line, run in groupby(
        inside, lambda part: part.chain[depth][0] if len(part.chain) > depth else 0
    ):
        members = list(run)
        if line:
            pieces.append(_block(skeleton, empty, members, depth))
        else:
            pieces.append(_piece(skeleton, empty, members, depth))
    return pieces[0] if len(pieces) == 1 else _joined(empty, pieces)


def _block(skeleton: Skeleton, empty: type, members: Sequence[Part], depth: int) -> Build:
    """Return the build of the members of one statement, which is at ``depth`` of their chains."""
    line = members[0].chain[depth][0]
    statement, where = skeleton.statements[line], skeleton.where(line)
    in_body: list[Part] = []
    in_else: list[Part] = []
    for part in members:
        (in_body if part.chain[depth][1] else in_else).append(part)
    body = _collection(skeleton, empty, in_body, depth + 1)
    otherwise = _collection(skeleton, empty, in_else, depth + 1)
    if isinstance(statement, nodes.For):
        return _loop(statement, body, where)
    test = _test(statement.test, where)
    return lambda scope: body(scope) if test(scope) else otherwise(scope)


def _piece(skeleton: Skeleton, empty: type, members: Sequence[Part], depth: int) -> Build:
    """Return the build of entries that are always there: constants, and slots between them."""
    values: dict[Any, Any] = {}
    slots = []
    for index, part in enumerate(members):
        key = index if part.key is None else part.key
        entry = _node(skeleton, part.node, depth)
        values[key] = entry.value if isinstance(entry, _Fixed) else None
        if not isinstance(entry, _Fixed):
            slots.append((key, entry))
    fixed = values if empty is dict else list(values.values())
    if not slots:
        return _Fixed(fixed)

    def build(scope: Scope) -> Any:
        result: Any = fixed.copy()
        for key, slot in slots:
            result[key] = slot(scope)
        return result

    return build


def _joined(empty: type, pieces: Sequence[Build]) -> Build:
    add = dict.update if empty is dict else list.extend

    def build(scope: Scope) -> Any:
        result = empty()
        for piece in pieces:
            add(result, piece(scope))
        return result

    return build if pieces else _Fixed(empty())


def _loop(statement: nodes.For, body: Build, where: str) -> Build:
    items_of, (name,) = _path(statement.iter, where), path_of(statement.target)

    def build(scope: Scope) -> Any:
        items = items_of(scope)
        if not isinstance(items, tuple | list):
            raise TypeError(f"{where}: a loop takes a tuple or list, not {type(items).__name__}")
        result: list[Any] = []
        for item in items:
            result.extend(body({**scope, name: item}))
        return result

    return build


def _test(test: nodes.Node, where: str) -> Build:
    match test:
        case nodes.Const(value=value):
            return _Fixed(value)
        case nodes.Not(node=inner):
            holds = _test(inner, where)
            return lambda scope: not holds(scope)
        case nodes.And(left=left, right=right):
            first, second = _test(left, where), _test(right, where)
            return lambda scope: first(scope) and second(scope)
        case nodes.Or(left=left, right=right):
            first, second = _test(left, where), _test(right, where)
            return lambda scope: first(scope) or second(scope)
        case nodes.Compare(expr=left, ops=[nodes.Operand(op=op, expr=right)]):
            first, second = _test(left, where), _test(right, where)
            return lambda scope: (first(scope) == second(scope)) is (op == "eq")
    return _path(test, where)


def _path(expression: nodes.Node, where: str) -> Build:
    """Read an attribute path."""
    name, *steps = path_of(expression)

    def build(scope: Scope) -> Any:
        try:
            value: Any = scope[name]
            for step in steps:
                value = read(value, step)
        except (KeyError, AttributeError) as error:
            raise LookupError(
                f"{where}: {'.'.join((name, *steps))} leads nowhere: {error}"
            ) from error
        return value

    return build


def _insertion(expression: nodes.Expr, where: str) -> Build:
    path = _path(expression, where)

    def build(scope: Scope) -> Any:
        value = path(scope)
        return value if type(value) in _SCALARS else _plain(value, where)

    return build


def _plain(value: object, where: str) -> Any:
    """Return a value of the model as plain data; a member of an enum becomes its value."""
    match value:
        case None:
            raise LookupError(f"{where}: the value is None")
        case bool():
            return value
        case str() | int():
            return _without_enum(value)
        case tuple() | list():
            return [_plain(item, where) for item in value]
        case Mapping():
            return {_key(key, where): _plain(item, where) for key, item in value.items()}
    raise TypeError(f"{where}: {type(value).__name__} is not plain data")


def _without_enum(value: str | int) -> str | int:
    return str.__str__(value) if isinstance(value, str) else int(value)


def _key(key: object, where: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{where}: a key of type {type(key).__name__} is not plain data")
    return str.__str__(key)
