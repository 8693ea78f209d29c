"""The grammar of templates: the shape of one object, and nothing else.

Every ``{{ path }}`` is one whole YAML value; statements are ``for`` over a path and ``if`` with a
plain test, each on a line of its own and around whole entries. Everything else that Jinja can do
(filters, macros, set, include, strings built from pieces) is refused, because wanting it is the
sign that a decision belongs into the model or a view, where it has a name, a type and a test. The
rules are for the syntax tree (``_statements``), the lines (``_layout``) and the YAML (``_shape``);
together they make sure that a template means the same to Jinja and to ``compile``. A template that
breaks them is our bug, so it raises.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jinja2 import TemplateSyntaxError, nodes

from trainyard.render.template import SYNTAX, Chain, Part, Skeleton, parts, take_apart
from trainyard.yaml_io.template_tree import Node, read_template_tree

Complaint = tuple[int, str]

_OPENERS = {"block_begin": "{%", "comment_begin": "{#", "variable_begin": "{{"}
_CLOSERS = {"block_end": "%}", "comment_end": "#}", "variable_end": "}}"}
_ALONE = ("block", "comment")
_REFUSED: dict[type[nodes.Node], str] = {
    nodes.For: "for is {% for name in path %} and nothing else",
    nodes.If: "a test is made of paths, not, and, or, == and != with a string, integer or path",
}


class GrammarError(ValueError):
    """A template breaks the grammar; the message has one ``name:line: what`` a line."""


def read_template(text: str, name: str) -> tuple[Skeleton, Node]:
    """Return the skeleton of a template and its YAML, which is a mapping.

    Raises:
        GrammarError: the template breaks the grammar.
    """
    try:
        tree = SYNTAX.parse(text)
    except TemplateSyntaxError as error:
        raise GrammarError(f"{name}:{error.lineno}: {error.message}") from error
    _refuse(name, [*_layout(text), *_statements(tree.body)])
    skeleton = take_apart(text, tree, name)
    try:
        root = read_template_tree(skeleton.text)
    except ValueError as error:
        raise GrammarError(f"{name}: {error}") from error
    _refuse(name, list(_shape(skeleton, root)))
    return skeleton, root


def path_of(expression: nodes.Node) -> tuple[str, ...]:
    """Return the names of an attribute path, empty if the expression is anything else."""
    match expression:
        case nodes.Name(name=name) if name != "loop":
            return (name,)
        case nodes.Getattr(node=owner, attr=attr) if not attr.startswith("_"):
            names = path_of(owner)
            return (*names, attr) if names else ()
    return ()


def _refuse(name: str, complaints: Sequence[Complaint]) -> None:
    if complaints:
        raise GrammarError("\n".join(f"{name}:{line}: {what}" for line, what in sorted(complaints)))


def _layout(text: str) -> Iterator[Complaint]:
    """Yield statements and comments that share a line with something, and whitespace control."""
    before = "\n"
    for line, kind, value in SYNTAX.lex(text):
        if kind == "raw_begin" or not _is_plain(kind, value):
            yield line, "whitespace control and raw text are not part of the grammar"
        if kind.startswith(_ALONE) and not _is_alone(kind, before, value):
            yield line, "a statement or comment has a line of its own"
        before = value


def _is_plain(kind: str, value: str) -> bool:
    """Return whether a token is not a bracket, or is one without whitespace control."""
    if kind in _OPENERS:
        return value == _OPENERS[kind]
    return kind not in _CLOSERS or value.rstrip("\n") == _CLOSERS[kind]


def _is_alone(kind: str, before: str, value: str) -> bool:
    """Return whether nothing else is on the line of a bracket, given the token before it."""
    if kind in _OPENERS:
        return before[-1] == "\n"
    return kind not in _CLOSERS or value[-1] == "\n"


def _statements(body: Sequence[nodes.Node]) -> Iterator[Complaint]:
    """Yield what is neither text, a path, a plain ``for`` nor a plain ``if``."""
    for node in body:
        match node:
            case nodes.Output(nodes=leaves):
                yield from _insertions(leaves)
            case nodes.For(target=target, iter=source, else_=[], test=None, recursive=False) if (
                path_of(target) and path_of(source)
            ):
                yield from _statements(node.body)
            case nodes.If(test=test, elif_=others, else_=otherwise) if _is_test(test):
                yield from _statements([*node.body, *others, *otherwise])
            case _:
                unknown = f"{type(node).__name__.lower()} is not part of the grammar"
                yield node.lineno, _REFUSED.get(type(node), unknown)


def _insertions(leaves: Sequence[nodes.Node]) -> Iterator[Complaint]:
    for leaf in leaves:
        if not isinstance(leaf, nodes.TemplateData) and not path_of(leaf):
            yield leaf.lineno, "{{ }} holds an attribute path and nothing else"


def _is_test(test: nodes.Node) -> bool:
    match test:
        case nodes.Not(node=inner):
            return _is_test(inner)
        case nodes.And(left=left, right=right) | nodes.Or(left=left, right=right):
            return _is_test(left) and _is_test(right)
        case nodes.Compare(expr=left, ops=[nodes.Operand(op="eq" | "ne", expr=right)]):
            literal = isinstance(right, nodes.Const) and type(right.value) in (str, int)
            return bool(path_of(left)) and (literal or bool(path_of(right)))
    return bool(path_of(test))


def _shape(skeleton: Skeleton, root: Node) -> Iterator[Complaint]:
    """Yield values, keys and blocks that are not whole YAML nodes."""
    if root.kind != "mapping":
        yield root.line, "a template is one mapping"
    values: set[object] = set()
    yield from _node(skeleton, root, (), values)
    text = skeleton.text
    for mark, expression in skeleton.slots.items():
        if mark not in values or f'"{mark}' in text or f"'{mark}" in text:
            yield (
                expression.lineno,
                "{{ }} is one whole value: not quoted, in a comment, in a key or beside text",
            )


def _node(skeleton: Skeleton, node: Node, chain: Chain, values: set[object]) -> Iterator[Complaint]:
    inside = parts(skeleton, node)
    if not inside:
        values.add(node.value)
        if skeleton.chain(node.line) != chain or _has_bracket(str(node.value)):
            yield node.line, "a statement or comment is inside a value"
    for number, part in enumerate(inside):
        yield from _part(skeleton, part, chain)
        if part.key is not None and any(_clash(part, other) for other in inside[:number]):
            yield part.line, "a key is there twice where both may be live"
        yield from _node(skeleton, part.node, part.chain, values)


def _has_bracket(value: str) -> bool:
    return "{%" in value or "{#" in value


def _part(skeleton: Skeleton, part: Part, chain: Chain) -> Iterator[Complaint]:
    own = part.chain[len(chain) :]
    if part.chain[: len(chain)] != chain:
        yield part.line, "a statement cuts an entry in two"
    if part.key is not None and any(
        isinstance(skeleton.statements[line], nodes.For) for line, _ in own
    ):
        yield part.line, "for gives the items of a list: a key cannot be repeated"
    begin = skeleton.source[part.line - 1].lstrip()
    if own and not (
        begin.startswith("-") if part.key is None else begin.lstrip("- \"'").startswith(part.key)
    ):
        yield part.line, "an entry in a block begins its line"


def _clash(one: Part, other: Part) -> bool:
    """Return whether two entries have one key and are not in two branches of one ``if``."""
    apart = any(a != b and a[0] == b[0] for a, b in zip(one.chain, other.chain, strict=False))
    return one.key == other.key and not apart
