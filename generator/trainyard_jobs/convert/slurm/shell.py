"""The commands of a shell script and their words; nothing is expanded and nothing is run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.model import RefusedError
from trainyard_jobs.convert.slurm.grammar import (
    EXPANDED,
    PLAIN,
    Source,
    Span,
    nodes,
    pieces,
    span_of,
)

_SPREADS = re.compile(r"[*?\[]|\{[^{}]*(?:,|\.\.)[^{}]*\}")
_HOME = re.compile(r"(?:^|[=:])~")


@dataclass(frozen=True, slots=True)
class Token:
    """A word as the script writes it, or an operator."""

    raw: str
    at: Pointer

    @property
    def text(self) -> str:
        """The word without its quotes; what the shell would expand is left as it is."""
        return "".join(given for _, _, given in pieces(self.raw))

    @property
    def expands(self) -> bool:
        """Return whether the shell would replace a part of it by the value of something."""
        if any(kind == EXPANDED and written != "$" for kind, written, _ in pieces(self.raw)):
            return True
        bare = self._bare
        return "$\uffff" in bare or bool(_HOME.search(bare))

    @property
    def spreads(self) -> bool:
        """Return whether the shell would make several words of it: of files, or of braces."""
        return bool(_SPREADS.search(self._bare))

    @property
    def is_quoted(self) -> bool:
        """Return whether a part of it is in quotes, so that it is a word even if it is empty."""
        return "'" in self.raw or '"' in self.raw

    @property
    def _bare(self) -> str:
        """The word with the places of what is quoted or substituted, and no sign of it."""
        parts = [
            written if kind == PLAIN or written == "$" else "\uffff" * len(written)
            for kind, written, _ in pieces(self.raw)
        ]
        return "".join(parts)


def written(words: Iterable[Token]) -> str:
    """Return words as the script writes them."""
    return " ".join(word.raw for word in words)


def texts(words: Iterable[Token]) -> list[str]:
    """Return words without their quotes."""
    return [word.text for word in words]


@dataclass(frozen=True, slots=True)
class Statement:
    """A simple command with its redirections, or a block of commands.

    Args:
        words: of the command; of a block its first one.
        redirects: in their order, each with its operator and its file.
        end: operator that follows: ``&&``, ``|``, ``&``, ... ; empty at the end of a line.
        raw: the command as the script writes it, without redirections.
        inner: the commands of a block; None for a simple command.
        loops: variables that loops of a block set.
        span: bytes of the script, with redirections.
    """

    words: tuple[Token, ...]
    redirects: tuple[Token, ...]
    end: str
    raw: str
    inner: tuple[Statement, ...] | None = None
    loops: tuple[str, ...] = ()
    span: Span = (0, 0)

    @property
    def whole(self) -> str:
        """The command as the script writes it, with redirections."""
        return " ".join(filter(None, (self.raw, written(self.redirects))))

    @property
    def at(self) -> Pointer:
        """Where it begins."""
        return self.words[0].at

    @property
    def name(self) -> str:
        """The program, without the folder that it is in."""
        return self.words[0].text.rpartition("/")[2]

    @property
    def simple(self) -> tuple[Statement, ...]:
        """The simple commands: of a block all that are in it."""
        return (self,) if self.inner is None else self.inner

    def refused(self, reason: str) -> RefusedError:
        """Return that the command can't be converted."""
        return RefusedError(self.at, f"`{self.raw.partition(_NEWLINE)[0]}`", reason)


_NEWLINE = "\n"


def statements(file: str, lines: Sequence[str], start: int) -> Iterator[Statement]:
    """Yield the commands of a script from a line on.

    Raises:
        RefusedError: the grammar does not understand the script.
    """
    source = Source(file, "\n".join(lines[start:]), start + 1)
    source.need_whole()
    yield from _of_body(source, source.root)


def elements_of(array: Token) -> list[Token] | None:
    """Return the elements of ``(a "b c" $D)``; None for one with keys or with commands."""
    source = Source(array.at.file, f"a={array.raw}")
    found = [node for node in nodes(source.root) if node.type == "array"]
    if source.root.has_error or not found or _runs_commands(source, found[0]):
        return None
    inner = [node for node in found[0].children[1:-1] if node.type != "comment"]
    words = [Token(source.word(span), array.at) for span in source.words(inner)]
    return None if any(word.raw.startswith("[") for word in words) else words


def _runs_commands(source: Source, array: Node) -> bool:
    """Return whether elements come from commands, other than those that name hosts."""
    for node in nodes(array):
        if node.type == "process_substitution":
            return True
        if node.type == "command_substitution" and not _HOSTS.match(source.text(span_of(node))):
            return True
    return False


_HOSTS = re.compile(r"\$\(\s*(?:hostname|scontrol)\b[^()]*\)\Z")


def parameter_in(text: str) -> str:
    """Return a parameter of the script that commands read, such as ``$1``; empty for none.

    A function has parameters of its own.
    """
    source = Source("", text)
    for node in nodes(source.root, frozenset({"function_definition"})):
        if node.type in {"simple_expansion", "expansion"}:
            shown = source.text(span_of(node))
            if re.match(r"\$\{?[0-9@*#](?![A-Za-z_])", shown):
                return shown
    return ""


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
        parts = [child for child in node.children if child.is_named and child.type != "comment"]
        for part in parts:
            operator = part.next_sibling
            is_last = part == parts[-1]
            yield from _of_node(source, part, end if is_last or not operator else operator.type)
    elif node.type == "redirected_statement":
        yield from _redirected(source, node, end)
    elif node.type in _SIMPLE:
        yield _simple(source, node.children, end, span_of(node))
    elif node.type != "comment":
        yield _block(source, node, end)


def _holds_commands(node: Node) -> bool:
    """Return whether a part of a pipe is more than a simple command."""
    return any(each.type in _HOLDERS for each in nodes(node, _SIMPLE))


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
    if body is None or body.type in _HOLDERS or _has_document(redirects):
        if body is not None:
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
        body = node.child_by_field_name("body")
        redirects = [child for child in node.children if child.type in _REDIRECTS]
        if body is not None and body.type in _SIMPLE:
            span = (body.start_byte, redirects[0].end_byte)
            yield _simple(source, [*body.children, *redirects], "", span)
        elif body is not None:
            yield from _within(source, body)
        for redirect in redirects:
            yield from _within(source, redirect)
        return
    if node.type == "pipeline":
        yield from (each for part in node.named_children for each in _within_part(source, part))
        return
    for statement in _of_body(source, node):
        yield from statement.simple


def _within_part(source: Source, part: Node) -> Iterator[Statement]:
    for statement in _of_node(source, part, ""):
        yield from statement.simple
