"""The commands of a shell script and their words; nothing is expanded and nothing is run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

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


def elements_of(array: Token) -> list[Token] | None:
    """Return the elements of ``(a "b c" $D)``; None for one with keys or with commands."""
    source = Source(array.at.file, f"a={array.raw}")
    found = [] if source.root.has_error else list(filter(_is_array, nodes(source.root)))
    if not found or _runs_commands(source, found[0]):
        return None
    inner = [node for node in found[0].children[1:-1] if node.type != "comment"]
    words = [Token(raw, array.at) for raw in map(source.word, source.words(inner))]
    return None if _KEYED.search(f" {written(words)}") else words


def _is_array(node: Node) -> bool:
    return node.type == "array"


_KEYED = re.compile(r"\s\[")


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
