"""Resolve plain scalars as YAML readers do, and write text that they all read alike."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Final

from trainyard.yaml_io.source import Plain

# Fixed ranges, not str.isprintable(): that follows the Unicode version of the interpreter, and the
# bytes that we write must not. C0 and C1 with NEL, soft hyphen, bidi and zero-width characters, LS
# and PS, the BOM, surrogates, noncharacters, and the invisible tag characters.
HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f"
    + "".join(
        f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000)
    )
    + "]"
)
"""A character that no file or value may hold raw; tab and line feed are the only controls outside
it."""

_ODD_SPACE: Final = re.compile("[\t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")

_TYPED: Final = re.compile(
    r"""<<|=|~|y|yes|n|no|on|off|true|false|null
    |[-+]?[0-9]+|[-+.]+_+|[-+]?0x[0-9a-f]*|[-+]?0o[0-7]*|[-+]?0b[01]*
    |[-+]?0x[0-9a-f.]*p[-+]?[0-9]+
    |[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)(e[-+]?[0-9]+)?|[-+]?\.(inf|nan)
    |[-+]?[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?
    |[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}((t|[ \t]+)[0-9].*)?""",
    re.VERBOSE | re.IGNORECASE,
)
"""The union of the implicit types of YAML 1.1 (PyYAML), 1.2 (ruamel.yaml) and Go (sigs.k8s.io/yaml,
goyaml.v2)."""

_NUMBER_LIKE: Final = re.compile(r"[-+.]?[0-9][0-9a-fA-FxXoOpP_.:+-]*")
_CONSTANTS: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None, "": None}
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,11}")


def is_typed(text: str) -> bool:
    """Return whether some YAML reader takes a plain scalar for something else than text."""
    # Readers drop underscores before they look for a number.
    return bool(_TYPED.fullmatch(text) or ("_" in text and _TYPED.fullmatch(text.replace("_", ""))))


@lru_cache(maxsize=8192)
def resolve_agreed(text: str) -> Plain:
    """Return the value of a plain scalar on which all readers agree.

    Raises:
        ValueError: readers disagree, or the dialect has no such value (a float, an integer beyond
            12 digits).
    """
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if is_typed(text) or _ODD_SPACE.search(text):
        raise ValueError(f"readers disagree on {text!r}")
    return text


_KUBERNETES_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(
        ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True
    ),
    **dict.fromkeys(
        ("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False
    ),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_KUBERNETES_INTEGER: Final = re.compile(
    r"[-+]?(?:0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|0(?P<octal>[0-7]+)|0|[1-9][0-9]*)"
)
_KUBERNETES_INTEGERS: Final = range(-(1 << 63), 1 << 64)
"""Larger ones are floats, or text if their digits are not decimal."""
_LONGEST_INTEGER: Final = len("-0b") + 64
_KUBERNETES_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


@lru_cache(maxsize=8192)
def resolve_kubernetes(text: str) -> Plain:
    """Return the value of a plain scalar in Kubernetes' reader.

    The source is sigs.k8s.io/yaml v1.4, goyaml.v2/resolve.go.

    Dates and base-60 numbers are text to it; so are ``<<`` and ``=`` here, which we never write
    plain.
    """
    if text in _KUBERNETES_WORDS:
        return _KUBERNETES_WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    digits = text.replace("_", "")
    number = _kubernetes_integer(digits)
    if number is not None and number in _KUBERNETES_INTEGERS:
        return number
    if _KUBERNETES_FLOAT.fullmatch(digits) and math.isfinite(decimal := float(digits)):
        return decimal
    return text


def _kubernetes_integer(digits: str) -> int | None:
    """Return an integer; None for other text, and for thousands of digits, which Python refuses."""
    match = _KUBERNETES_INTEGER.fullmatch(digits) if len(digits) <= _LONGEST_INTEGER else None
    return int(digits, 8 if match["octal"] else 0) if match else None


_PLAIN: Final = re.compile(r"[A-Za-z0-9_/](?:[A-Za-z0-9_./@%+=,()-]|:(?=[^ ])|[ ](?=[^ ]))*")
_ESCAPED: Final = re.compile(f'["\\\\\t\n]|{HIDDEN.pattern}|{_ODD_SPACE.pattern}')
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        raise ValueError(f"U+{code:04X} is half a character; no YAML can hold it")
    width, letter = (2, "x") if code < 0x100 else (4, "u") if code < 0x10000 else (8, "U")
    return _ESCAPES.get(char, f"\\{letter}{code:0{width}x}")


def double_quoted(text: str) -> str:
    """Return text as a double-quoted scalar on one line, with invisible characters escaped.

    Raises:
        ValueError: the text holds a surrogate.
    """
    return f'"{_ESCAPED.sub(_escape, text)}"'


@lru_cache(maxsize=65536)
def inline(text: str) -> str:
    """Return text as a scalar on one line: plain if every reader takes it for text, else quoted."""
    if _PLAIN.fullmatch(text) and not _NUMBER_LIKE.fullmatch(text) and not is_typed(text):
        return text
    return double_quoted(text)


_MEANT: Final = {
    **dict.fromkeys(("y", "yes", "on", "true"), "true"),
    **dict.fromkeys(("n", "no", "off", "false"), "false"),
    **dict.fromkeys(("~", "null"), "null"),
}


_FRACTION: Final = re.compile(r"[0-9]+\.[0-9]+")


def advice(text: str) -> str:
    """Return how to write a plain scalar on which readers disagree."""
    quoted = double_quoted(text)
    if meant := _MEANT.get(text.lower()):
        return f"write {quoted} if it is text, `{meant}` if not"
    if _FRACTION.fullmatch(text):
        return f"write a whole number, or {quoted} where the key takes text, as a version"
    if text[0] in "+-.0123456789":
        return f"write {quoted} if it is text; numbers are decimal integers of at most 12 digits"
    return f"write {quoted}"
