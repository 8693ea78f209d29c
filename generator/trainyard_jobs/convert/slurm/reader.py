"""Read the commands of a script from its tree: simple ones, and blocks of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from tree_sitter import Node

from trainyard_jobs.convert.slurm.grammar import Source, Span, nodes, span_of
from trainyard_jobs.convert.slurm.shell import Statement, Token, written


def statements(file: str, lines: Sequence[str], start: int) -> Iterator[Statement]:
    """Yield the commands of a script from a line on.

    Raises:
        RefusedError: the grammar does not understand the script.
    """
    source = Source(file, "\n".join(lines[start:]), start + 1)
    source.need_whole()
    yield from _of_body(source, source.root)


_ENDS = frozenset({";", "&"})
_SIMPLE = frozenset(
    {
        *("command", "declaration_command", "test_command", "unset_command"),
        *("variable_assignment", "variable_assignments"),
    }
)
_REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_LOOPS = frozenset({"for_statement", "c_style_for_statement"})
_HOLDERS = frozenset(
    {
        *("if_statement", "elif_clause", "else_clause", "while_statement", "do_group"),
        *("case_statement", "case_item", "function_definition", "compound_statement"),
        *("subshell", "negated_command", "heredoc_redirect", *_LOOPS),
    }
)
"""Parts that commands are in."""


def _of_body(source: Source, node: Node) -> Iterator[Statement]:
    """Yield the commands of a script, or of a part that holds commands."""
    for child in node.children:
        follows = child.next_sibling
        end = follows.type if follows is not None and follows.type in _ENDS else ""
        if child.type in {*_SIMPLE, *_HOLDERS, "list", "pipeline", "redirected_statement"}:
            yield from _of_node(source, child, end)


def _of_node(source: Source, node: Node, end: str) -> Iterator[Statement]:
    if node.type == "pipeline" and _holds_commands(node):
        yield _block(source, node, end)
    elif node.type in {"list", "pipeline"}:
        yield from _of_parts(source, node, end)
    elif node.type == "redirected_statement":
        yield from _redirected(source, node, end)
    elif node.type in _SIMPLE:
        yield from _of_lines(source, node, end)
    elif node.type != "comment":
        yield _block(source, node, end)


def _of_parts(source: Source, node: Node, end: str) -> Iterator[Statement]:
    """Yield the commands of a list or a pipe, each with the operator that follows."""
    parts = [child for child in node.named_children if child.type != "comment"]
    for part in parts[:-1]:
        operator = part.next_sibling
        yield from _of_node(source, part, operator.type if operator else "")
    yield from _of_node(source, parts[-1], end)


def _holds_commands(node: Node) -> bool:
    """Return whether a part of a pipe is more than a simple command."""
    return any(each.type in _HOLDERS for each in nodes(node, _SIMPLE))


def _of_lines(source: Source, node: Node, end: str) -> Iterator[Statement]:
    """Yield a simple command, and those before it on lines of their own.

    After several assignments the grammar takes the next line for the same command.
    """
    runs: list[list[Node]] = [[]]
    for child in node.children:
        gap = source.text((runs[-1][-1].end_byte, child.start_byte)) if runs[-1] else ""
        if "\n" in gap.replace("\\\n", ""):
            runs.append([])
        runs[-1].append(child)
    for run in runs:
        if any(child.type != "comment" for child in run):
            span = (run[0].start_byte, run[-1].end_byte)
            yield _named(source, _simple(source, run, end if run is runs[-1] else "", span))


def _simple(source: Source, children: Sequence[Node], end: str, span: Span) -> Statement:
    """Return a simple command; what follows the file of a redirection is a word of it."""
    words: list[Span] = []
    redirects: list[Token] = []
    run: list[Node] = []
    for child in children:
        if child.type in _REDIRECTS:
            words += source.words(run)
            run = []
            redirect, rest = _redirect(source, child)
            redirects.append(redirect)
            words += rest
        elif child.type != "comment":
            run.append(child)
    words += source.words(run)
    tokens = tuple(Token(source.word(each), source.place(each[0])) for each in words)
    return Statement(tokens, tuple(redirects), end, written(tokens), span=span)


def _named(source: Source, statement: Statement) -> Statement:
    """Return a simple command; for ``> file`` alone ``: > file``, which does the same."""
    if statement.words:
        return statement
    return replace(statement, words=(Token(":", source.place(statement.span[0])),), raw=":")


def _redirect(source: Source, node: Node) -> tuple[Token, list[Span]]:
    """Return a redirection, and the words of the command that the grammar takes for its files."""
    if node.type == "heredoc_redirect":
        first = source.text(span_of(node)).partition("\n")[0]
        return Token(first, source.place(node.start_byte)), []
    operator = next(child for child in node.children if child.type != "file_descriptor")
    spans = source.words(
        [child for child in node.children if child.start_byte > operator.start_byte]
    )
    opening = source.text((node.start_byte, operator.end_byte))
    blank = "" if opening.endswith("&") else " "
    file = source.word(spans[0]) if spans else ""
    return Token(f"{opening}{blank}{file}", source.place(node.start_byte)), spans[1:]


def _redirected(source: Source, node: Node, end: str) -> Iterator[Statement]:
    """Yield commands of which the last one has redirections."""
    body = node.child_by_field_name("body")
    redirects = [child for child in node.children if child.type in _REDIRECTS]
    if body is None:
        yield _named(source, _simple(source, redirects, end, span_of(node)))
        return
    if body.type in _HOLDERS or _has_document(redirects):
        yield _block(source, node, end)
        return
    *before, last = _of_node(source, body, end)
    yield from before
    own = _simple(source, redirects, end, (last.span[0], node.end_byte))
    words = (*last.words, *own.words)
    yield replace(own, words=words, redirects=(*last.redirects, *own.redirects), raw=written(words))


def _has_document(redirects: Iterable[Node]) -> bool:
    return any(each.type == "heredoc_redirect" for each in redirects)


def _block(source: Source, node: Node, end: str) -> Statement:
    """Return a block of commands, or a command with a here-document."""
    first = node
    while first.children:
        first = first.children[0]
    word = Token(source.text(span_of(first)), source.place(node.start_byte))
    loops = [each for each in nodes(node) if each.type in _LOOPS]
    names = [child for loop in loops for child in loop.children if child.type == "variable_name"]
    return Statement(
        (word,),
        (),
        end,
        source.text(span_of(node)),
        tuple(_within(source, node)),
        tuple(source.text(span_of(name)) for name in names),
        span_of(node),
    )


def _within(source: Source, node: Node) -> Iterator[Statement]:
    """Yield the simple commands of a block."""
    if node.type == "redirected_statement":
        yield from _within_redirected(source, node)
        return
    found = [_of_body(source, node)]
    if node.type == "pipeline":
        found = [_of_node(source, part, "") for part in node.named_children]
    for statement in chain.from_iterable(found):
        yield from statement.simple


def _within_redirected(source: Source, node: Node) -> Iterator[Statement]:
    """Yield the simple commands of a block with redirections, and those after a here-document."""
    body = node.child_by_field_name("body")
    redirects = [child for child in node.children if child.type in _REDIRECTS]
    if body is not None and body.type in _SIMPLE:
        span = (body.start_byte, redirects[0].end_byte)
        yield _simple(source, [*body.children, *redirects], "", span)
    elif body is not None:
        yield from _within(source, body)
    for redirect in redirects:
        yield from _within(source, redirect)
