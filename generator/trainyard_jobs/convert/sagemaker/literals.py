"""Read values of Python source that are known before it runs."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.diagnostics import Pointer


def name_of(call: ast.Call) -> str:
    """Return the name of what is called, without the module or object before it."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Return the expressions of variables that are assigned once in the whole source.

    One that is also imported, a parameter of a function, or changed in place has other values.
    """
    times: Counter[str] = Counter()
    values: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        times.update(_bound(node))
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            values[node.targets[0].id] = node.value
    return {name: value for name, value in values.items() if times[name] == 1}


_CHANGERS = frozenset(
    {"append", "clear", "extend", "insert", "pop", "remove", "setdefault", "update"}
)
"""Methods that change a list or a dict in place."""


_PLACES = (ast.Name, ast.Subscript, ast.Attribute)
"""Expressions that can be assigned."""


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the variables that get a value by a part of a source, or are changed."""
    if isinstance(node, _PLACES) and not isinstance(node.ctx, ast.Load):
        yield from _owner(node)
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, ast.Call) and name_of(node) in _CHANGERS:
        yield from _owner(node.func)


def _owner(node: ast.expr) -> Iterator[str]:
    """Yield the variable whose value an expression is, or is a part of."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def keywords_of(call: ast.Call) -> dict[str | None, ast.expr]:
    """Return the arguments of a call by their names; that of a dict it unpacks is None."""
    return {keyword.arg: keyword.value for keyword in call.keywords}


class UnknownError(Exception):
    """An expression has no value before the source runs."""


_DEEPEST = 8
"""Names and expressions in one another that are followed."""
_MOST = 100_000
"""Expressions whose values are read: each name may stand for many more."""
_LONGEST = 1 << 16
"""Characters of a text, and members of a list, that expressions make."""
_LARGEST = 1 << 63
"""Beyond all numbers that a job has."""
_HALF = re.compile("[\ud800-\udfff]")
"""Half a character, which no file can hold."""
_SIMPLE = (str, int, float, type(None))
"""Kinds of values without parts; a truth is a whole number to Python."""


@dataclass(frozen=True, slots=True)
class Names:
    """Values of expressions.

    Args:
        file: name of the source.
        constants: expressions of variables.
    """

    file: str
    constants: Mapping[str, ast.expr]
    _steps: Iterator[int] = field(default_factory=lambda: iter(range(_MOST)))

    def at(self, node: ast.expr | ast.keyword) -> Pointer:
        """Return the place of an expression; columns of Python are bytes from 0."""
        return Pointer(self.file, line=node.lineno, column=node.col_offset + 1)

    def behind(self, node: ast.expr) -> ast.expr:
        """Return the expression that a name stands for."""
        for _ in range(_DEEPEST):
            if isinstance(node, ast.Name) and node.id in self.constants:
                node = self.constants[node.id]
        return node

    def value(self, node: ast.expr, depth: int = _DEEPEST) -> Any:
        """Return the value of an expression of literals, names and f-strings.

        Raises:
            UnknownError: it has another form, or is too large.
        """
        read = _READERS.get(type(node), _literal)
        if not depth or next(self._steps, None) is None:
            raise UnknownError
        return _bounded(read(self, node, depth - 1))


def _bounded(value: Any) -> Any:
    """Return a value that is not too large, and whose text YAML can hold.

    Raises:
        UnknownError: it is another one.
    """
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise UnknownError
    if isinstance(value, str | list | dict) and len(value) > _LONGEST:
        raise UnknownError
    if isinstance(value, str) and _HALF.search(value):
        raise UnknownError
    return value


def _literal(_: Names, node: Any, __: int) -> Any:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError) as error:
        raise UnknownError from error
    if not isinstance(value, _SIMPLE):
        raise UnknownError
    return value


def _of_name(names: Names, node: ast.Name, depth: int) -> Any:
    if node.id not in names.constants:
        raise UnknownError
    return names.value(names.constants[node.id], depth)


def _of_dict(names: Names, node: ast.Dict, depth: int) -> Any:
    values: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        name = () if key is None else names.value(key, depth)
        if not isinstance(name, _SIMPLE):
            raise UnknownError
        values[name] = names.value(value, depth)
    return values


def _of_list(names: Names, node: ast.List | ast.Tuple, depth: int) -> Any:
    return [names.value(element, depth) for element in node.elts]


def _of_text(names: Names, node: ast.JoinedStr, depth: int) -> Any:
    return "".join(str(names.value(value, depth)) for value in node.values)


def _of_part(names: Names, node: ast.FormattedValue, depth: int) -> Any:
    if node.format_spec is not None:
        raise UnknownError
    return names.value(node.value, depth)


_ADDED = (str, int, float, list)
"""Kinds of values that can be added; a tuple is read as a list."""


def _of_operation(names: Names, node: ast.BinOp, depth: int) -> Any:
    left, right = names.value(node.left, depth), names.value(node.right, depth)
    are_numbers = isinstance(left, int) and isinstance(right, int)
    if isinstance(node.op, ast.Add) and type(left) is type(right) in _ADDED:
        return left + right
    if isinstance(node.op, ast.Mult) and are_numbers:
        return left * right
    raise UnknownError


def _of_call(names: Names, node: ast.Call, depth: int) -> Any:
    given = keywords_of(node)
    if name_of(node) != "dict" or node.args or None in given:
        raise UnknownError
    return {name: names.value(value, depth) for name, value in given.items()}


_READERS: Mapping[type, Callable[[Names, Any, int], Any]] = {
    ast.Name: _of_name,
    ast.Dict: _of_dict,
    ast.List: _of_list,
    ast.Tuple: _of_list,
    ast.JoinedStr: _of_text,
    ast.FormattedValue: _of_part,
    ast.BinOp: _of_operation,
    ast.Call: _of_call,
}
