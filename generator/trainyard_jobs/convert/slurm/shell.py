"""Split the commands of a shell script into words; nothing is expanded and nothing is run."""

from __future__ import annotations

import re
import shlex
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.model import RefusedError
from trainyard_jobs.convert.slurm.quoting import (
    begins_word,
    end_of_double,
    end_of_quote,
    end_of_substitution,
)

_SHIELDED = dict(zip(range(0x80), range(0xE000, 0xE080), strict=True))
"""Characters of substitutions are moved into the private use area, and back."""
_UNSHIELDED = dict(zip(_SHIELDED.values(), _SHIELDED, strict=True))
_OPERATORS = "();<>|&"
_EXPANDS = re.compile(r"\\.|'[^']*'|(\$[\w{(@*#?!$-]|`)", re.DOTALL)
_SPREADS = re.compile(r"[*?\[]|\{[^{}]*(?:,|\.\.)[^{}]*\}")
_HOME = re.compile(r"(?:^|[=:])~")
_COUNTED = re.compile(r"\\.|'[^']*'|(\$\{?[0-9@*#])", re.DOTALL)
_CONTINUED = re.compile(r"'[^']*'|\\\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Token:
    """A word as the script writes it, or an operator."""

    raw: str
    at: Pointer

    @property
    def text(self) -> str:
        """The word without its quotes; what the shell would expand is left as it is."""
        return "".join(shlex.split(_kept(self.raw), posix=True)).translate(_UNSHIELDED)

    @property
    def expands(self) -> bool:
        """Return whether the shell would replace a part of it by the value of something."""
        if any(_EXPANDS.findall(_unquoted(self.raw))):
            return True
        bare = self._bare
        return "$\uffff" in bare or bool(_HOME.search(bare))

    @property
    def spreads(self) -> bool:
        """Return whether the shell would make several words of it: of files, or of braces."""
        return bool(_SPREADS.search(self._bare))

    @property
    def counted(self) -> str:
        """A parameter of the script that it reads, such as ``$1``; empty for none."""
        return next(filter(None, _COUNTED.findall(_unquoted(self.raw))), "")

    @property
    def is_quoted(self) -> bool:
        """Return whether a part of it is in quotes, so that it is a word even if it is empty."""
        return "'" in self.raw or '"' in self.raw

    @property
    def _bare(self) -> str:
        """The word with the places of what is quoted or substituted, and no sign of it."""
        return _shielded(f"{self.raw}\n", self.at)[:-1]

    @property
    def is_operator(self) -> bool:
        """Return whether it separates or redirects commands."""
        return self.raw[0] in _OPERATORS


def written(words: Iterable[Token]) -> str:
    """Return words as the script writes them."""
    return " ".join(word.raw for word in words)


def texts(words: Iterable[Token]) -> list[str]:
    """Return words without their quotes."""
    return [word.text for word in words]


@dataclass(frozen=True, slots=True)
class Statement:
    """A simple command with its redirections.

    Args:
        words: of the command.
        redirects: in their order, each with its operator and its file.
        end: operator that follows: ``&&``, ``|``, ``&``, ... ; empty at the end of a line.
        raw: the command as the script writes it, without redirections.
    """

    words: tuple[Token, ...]
    redirects: tuple[Token, ...]
    end: str
    raw: str

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

    def refused(self, reason: str) -> RefusedError:
        """Return that the command can't be converted."""
        return RefusedError(self.at, f"`{self.raw}`", reason, WRAP_WHOLE)


def statements(file: str, lines: Sequence[str], start: int) -> Iterator[Statement]:
    """Yield the commands of a script from a line on.

    Raises:
        RefusedError: a quote is not closed, or a here-document begins.
    """
    text = "\n".join(lines[start:]) + "\n"
    shielded = _shielded(text, Pointer(file, line=start + 1, column=1))
    begins = [0, *accumulate(len(line) + 1 for line in lines[start:])]
    offset = 0
    for line in shielded.split("\n"):
        tokens = []
        for raw, at in _tokens(text, line, offset):
            number = bisect_right(begins, at)
            column = at - begins[number - 1] + 1
            tokens.append(Token(raw, Pointer(file, line=start + number, column=column)))
        yield from _commands(tokens)
        offset += len(line) + 1


def elements_of(array: Token) -> list[Token] | None:
    """Return the elements of ``(a "b c" $D)``; None for one with keys or with commands."""
    inner = array.raw[1:-1]
    if not array.raw.endswith(")") or re.search(r"\$\(|`|<\(|(?:^|\s)\[", inner):
        return None
    words: list[Token] = []
    for statement in statements(array.at.file, inner.split("\n"), 0):
        if statement.redirects or statement.end:
            return None
        words += [Token(word.raw, array.at) for word in statement.words]
    return words


_KEPT = re.compile(r"""'[^']*'|\\([$`])|(\$[({]|=\(|`)""")
"""What a shell treats in another way than `shlex`: ``\\$`` in double quotes, and substitutions."""


def _kept(raw: str) -> str:
    """Return a word whose substitutions have no quotes or blanks: they are shielded."""
    out, position, unquoted = "", 0, _unquoted(raw)
    while match := _KEPT.search(unquoted, position):
        out += raw[position : match.start()]
        end = match.end()
        if match[2]:
            find = end_of_double if match[2] == "`" else end_of_substitution
            end = find(raw, match.start()) or len(raw)
        part = raw[match.start() : end]
        shielded = match[1] or (part if match[2] else "")
        out += shielded.translate(_SHIELDED) or part
        position = end
    return out + raw[position:]


def _unquoted(raw: str) -> str:
    """Return a word in which a quote inside double quotes does not count."""
    return re.sub(r'"(?:\\.|[^"\\])*"', lambda match: match[0].replace("'", " "), raw)


def _shielded(text: str, at: Pointer) -> str:
    """Return a text of the same length whose quoted characters split no words.

    Comments become blanks.
    """
    out: list[str] = []
    position = 0
    while position < len(text):
        end = end_of_quote(text, position)
        if end is None:
            begin = Pointer(at.file, line=at.line + text.count("\n", 0, position), column=1)
            what = f"a {text[position]} that is not closed"
            raise RefusedError(begin, what, "the shell can't read the script")
        part = text[position:end]
        if part.startswith("#") and begins_word(text, position):
            out.append(" " * len(part))
        elif len(part) > 1:
            out.append("\uffff" * len(part))
        else:
            out.append(part)
        position = end
    return "".join(out)


def _tokens(text: str, line: str, offset: int) -> Iterator[tuple[str, int]]:
    """Yield the words and operators of a line as the script has them, and where they begin."""
    lexer = shlex.shlex(line, posix=False, punctuation_chars=_OPERATORS)
    lexer.whitespace_split = True
    lexer.commenters = lexer.quotes = ""
    position = 0
    for token in lexer:
        position = line.index(token, position)
        begin = offset + position
        position += len(token)
        # Where a line is continued, a word may go on, or be nothing but that.
        if raw := _continued(text[begin : begin + len(token)]):
            yield raw, begin


def _continued(raw: str) -> str:
    """Return a word without the ends of lines that it goes on over."""
    if "\\\n" not in raw:
        return raw
    out, position = "", 0
    for match in _CONTINUED.finditer(_unquoted(raw)):
        out += raw[position : match.start()]
        out += "" if match[0] == "\\\n" else raw[match.start() : match.end()]
        position = match.end()
    return out + raw[position:]


_ENDS = {";", "&&", "||", "|", "&", "|&", ";;"}


def _commands(tokens: Sequence[Token]) -> Iterator[Statement]:
    """Yield the commands of a line."""
    words: list[Token] = []
    redirects: list[Token] = []
    rest = list(tokens)
    while rest:
        token = rest.pop(0)
        if not token.is_operator:
            words.append(token)
        elif token.raw in _ENDS:
            yield from _statement(words, redirects, token.raw)
            words, redirects = [], []
        elif token.raw.strip("<>&|") == "" and not token.raw.startswith("<<"):
            redirects.append(_redirect(words, token, rest))
        else:
            what = "a here-document" if token.raw.startswith("<<") else f"`{token.raw}`"
            reason = "only simple commands can be converted"
            raise RefusedError(token.at, what, reason, WRAP_WHOLE)
    yield from _statement(words, redirects, "")


WRAP_WHOLE = (
    "Put the script into the image with `mpirun` in place of each `srun`, and give `/bin/bash "
    "SCRIPT` as the job's command: the launcher runs it."
)


def _redirect(words: list[Token], operator: Token, rest: list[Token]) -> Token:
    """Take a redirection: the ``2`` of ``2>`` from the words before it, the file from the rest."""
    file = rest.pop(0).raw if rest else ""
    blank = "" if operator.raw.endswith("&") else " "
    text, at = f"{operator.raw}{blank}{file}", operator.at
    if words and words[-1].raw.isdigit():
        last = words[-1].at
        if (last.line, last.column + len(words[-1].raw)) == (at.line, at.column):
            text, at = f"{words.pop().raw}{text}", last
    return Token(text, at)


def _statement(words: list[Token], redirects: list[Token], end: str) -> Iterator[Statement]:
    if words:
        yield Statement(tuple(words), tuple(redirects), end, written(words))
