"""Read the data that an estimator is given, from Python source."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainyard_jobs.convert.sagemaker.literals import Names, UnknownError, keywords_of
from trainyard_jobs.convert.sagemaker.request import Channel, Request


def members(node: ast.Dict) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the keys and values of a dict, without those of dicts that it unpacks."""
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            yield key, value


def take_channels(request: Request, node: ast.expr, names: Names) -> None:
    """Take the list of ``InputData(...)`` of a ModelTrainer."""
    for element in node.elts if isinstance(node, ast.List | ast.Tuple) else ():
        if isinstance(element, ast.Call):
            arguments = keywords_of(element)
            name = _shown(arguments.get("channel_name"), names)
            source = _shown(arguments.get("data_source"), names)
            request.channels.append(Channel(name, source, "File", names.at(element)))


def take_inputs(request: Request, node: ast.expr, names: Names) -> None:
    """Take what ``fit`` is given: a URI, or one for each channel."""
    node = names.behind(node)
    if isinstance(node, ast.Dict):
        for key, value in members(node):
            channel = Channel(_shown(key, names), _shown(value, names), "File", names.at(value))
            request.channels.append(channel)
    elif isinstance(node, ast.List | ast.Tuple):
        take_channels(request, node, names)
    elif not (isinstance(node, ast.Constant) and node.value is None):
        source = _shown(node, names)
        request.channels.append(Channel("training", source, "File", names.at(node)))


def _shown(node: ast.expr | None, names: Names) -> str:
    """Return the value of an expression as text, or the expression."""
    if node is None:
        return ""
    try:
        return str(names.value(node))
    except UnknownError:
        return ast.unparse(node)


def inputs_of(tree: ast.Module, call: ast.Call) -> ast.expr | None:
    """Return what ``fit`` or ``train`` of an estimator is given."""
    owner = _owner(tree, call)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_start(node.func, call, owner):
            named = keywords_of(node)
            given = named.get("inputs", named.get("input_data_config"))
            return node.args[0] if node.args else given
    return None


def _is_start(function: ast.expr, call: ast.Call, owner: str) -> bool:
    """Return whether a function is ``fit`` or ``train`` of an estimator."""
    if not isinstance(function, ast.Attribute) or function.attr not in {"fit", "train"}:
        return False
    target = function.value
    return target is call or (isinstance(target, ast.Name) and target.id == owner)


def _owner(tree: ast.Module, call: ast.Call) -> str:
    """Return the name that an estimator is assigned to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and node.value is call:
            target = node.targets[0]
            return target.id if isinstance(target, ast.Name) else ""
    return ""
