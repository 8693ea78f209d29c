"""Emitted YAML means the same to every reader."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from trainyard.yaml_io.emitter import emit
from trainyard.yaml_io.manifests import parse_manifests
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Plain

Load = Callable[[str], Plain]

ADVERSARIAL = [
    *(
        "1e3",
        "1234e56",
        "1234567e8",
        "0o17",
        "08",
        "012",
        "0x1F",
        "0b1",
        "1_000",
        "+1",
        "-1",
        "1.5",
        ".5",
        "5.",
        "1.",
    ),
    *(
        "y",
        "Y",
        "n",
        "yes",
        "No",
        "on",
        "OFF",
        "true",
        "False",
        "null",
        "~",
        "",
        "<<",
        "=",
        ".inf",
        "-.Inf",
        ".nan",
        "NaN",
    ),
    *(
        "22:22",
        "190:20:30.15",
        "0000:18:00.0",
        "2026-11-21",
        "2026-11-21T10:00:00Z",
        "2026-1-2 1:2:3",
        "0_x1",
        "-_",
        "._",
    ),
    *(
        "a: b",
        "a #b",
        "a:",
        " a",
        "a ",
        "- a",
        "-",
        "?",
        "? a",
        "---",
        "...",
        "%a",
        "@a",
        "`a",
        "!a",
        "&a",
        "*a",
        "|",
        ">",
    ),
    *(
        "[a]",
        "{a}",
        "{{ a }}",
        "$(X)",
        "'a'",
        '"a"',
        "a\\b",
        "#",
        ",",
        "a, b",
        "a,b",
        "::",
        "a:b",
        "/dev/x",
        "x" * 300,
    ),
    *(
        "é",
        "😀",
        "a\x85b",
        "a\u2028b",
        "\ufeff",
        "\u202e",
        "a\tb",
        "\t",
        "\x00",
        "\x1b",
        "\x7f",
        "\xa0",
        "\uffff",
        "\ud7ff",
    ),
    *(
        "a\n",
        "a\nb",
        "a\n\n",
        "\n",
        "\n\n",
        "\na",
        " a\nb",
        "a \nb",
        "a\n b\n",
        "a\n\tb",
        "\ta\n",
        "a\n\n\nb\n",
        "a\r\nb",
        "\r",
    ),
    *(
        "a\n---\nb\n",
        "a\n# b",
        "a\n  ",
        "a\n...",
        "a: b\nc: d\n",
        "- a\n- b",
        "a\n\t\nb",
        "é😀\nb\n",
        "a\u2028\nb",
        "#a\nb",
    ),
    *(
        "word " * 60,
        "10.0.0.0/16",
        "64Gi",
        "500m",
        "nvidia.com/gpu",
        "system:serviceaccount:a:b",
        "--flag=x",
        "1.10",
        "fal\u017fe",
    ),
]

TEXT = st.one_of(
    st.sampled_from(ADVERSARIAL),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.text("ab \n\t:#-'\"|", max_size=12),
    st.text("0123456789eExob_.:+-T", max_size=8),
)
KEYS = TEXT.filter(lambda it: len(it) < 1000)
SCALARS = st.one_of(TEXT, st.integers(-(10**12), 10**12), st.booleans(), st.none())
BODIES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=15,
)


def ruamel(text: str) -> Plain:
    """Return what a YAML 1.2 reader makes of a text."""
    return YAML(typ="safe", pure=True).load(text)


def pure(text: str) -> Plain:
    """Return what PyYAML's own YAML 1.1 reader makes of a text."""
    return yaml.load(text, Loader=yaml.SafeLoader)


def fast(text: str) -> Plain:
    """Return what libyaml makes of a text."""
    return yaml.load(text, Loader=yaml.CSafeLoader)


def manifests(text: str) -> Plain:
    """Return what Kubernetes makes of the only document of a text, by our own account."""
    return parse_manifests(text)[0]


@pytest.mark.parametrize("load", [fast, pure, ruamel, manifests])
@given(body=st.dictionaries(KEYS, BODIES, min_size=1, max_size=4))
def test_emit_is_read_back_by_every_reader(load: Load, body: Plain) -> None:
    """YAML 1.1, YAML 1.2, libyaml and Kubernetes read the same data, in the same order of keys."""
    back = load(emit(body, "from profiles/teams/nlp.yaml").decode())
    assert repr(back) == repr(body)


@pytest.mark.parametrize("load", [fast, pure, ruamel, manifests])
def test_emit_keeps_every_adversarial_text(load: Load) -> None:
    """Each text survives as value, as list item, as key, and behind each other."""
    body = {
        "values": ADVERSARIAL,
        "nested": [[it] for it in ADVERSARIAL],
        "keys": {it: it for it in ADVERSARIAL},
    }
    assert load(emit(body).decode()) == body


@given(BODIES)
@example("a\nb")
@example([])
@example({})
def test_emit_takes_any_root(body: Plain) -> None:
    """A scalar, a list and an empty collection are documents too."""
    assert fast(emit(body).decode()) == body


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.sampled_from(ADVERSARIAL), min_size=1
    )
)
def test_emit_is_a_profile_for_the_reader(body: Plain) -> None:
    """The reader of profiles finds nothing ambiguous in what we write; only the characters it
    refuses everywhere."""
    source, diagnostics = read("p.yaml", emit(body))
    assert {it.rule for it in diagnostics} <= {"shape/hidden-character"}
    assert source.value == body


def test_emit_has_one_readable_shape() -> None:
    """Lists are under their key as in kubectl, scripts are blocks, the header is a comment."""
    body = {
        "kind": "A",
        "spec": {
            "items": [{"name": "a", "sub": ["x", 1]}, ["y", []], "z"],
            "none": None,
            "on": True,
            "no": {},
        },
        "script": "set -e\n\n  run\n",
        "strip": "a\nb",
        "keep": "a\n\n",
        "image": "registry/x:1.0@sha256:ab",
    }
    assert emit(body, "one\n\ntwo\u2028three").decode() == (
        "# one\n#\n# two\n# three\n"
        'kind: A\nspec:\n  items:\n  - name: a\n    sub:\n    - x\n    - 1\n  - - "y"\n    - []\n  - z\n'  # noqa: E501 - one value
        '  none: null\n  "on": true\n  "no": {}\n'
        "script: |\n  set -e\n\n    run\nstrip: |-\n  a\n  b\nkeep: |+\n  a\n\nimage: registry/x:1.0@sha256:ab\n"  # noqa: E501 - one value
    )


@pytest.mark.parametrize(
    "text", [it for it in ADVERSARIAL if re.fullmatch(r"[-+.]?[0-9][0-9a-fA-FxobeE_.:+-]*", it)]
)
def test_emit_quotes_whatever_looks_like_a_number(text: str) -> None:
    """Even where no known reader would take it for one."""
    assert emit({"a": text}) == f'a: "{text}"\n'.encode()


@pytest.mark.parametrize(
    "body", [1.5, {"a": 1.0}, [float("nan")], {1: "a"}, {None: 1}, (1,), {"a": {1, 2}}, {"a": b"x"}]
)
def test_emit_refuses_what_is_no_plain_data(body: Plain) -> None:
    """A float, a key that is not a string, or a foreign type is a bug of ours, never text."""
    with pytest.raises(TypeError):
        emit(body)


@pytest.mark.parametrize("body", ["\ud800", {"\udfff": 1}, {"a": "x\n\ud800"}, {"k" * 1001: 1}])
def test_emit_refuses_what_yaml_cannot_hold(body: Plain) -> None:
    """Half a surrogate pair and a key beyond libyaml's look-ahead raise instead of writing what
    can't be read."""
    with pytest.raises(ValueError, match=r"half a character|a key of"):
        emit(body)


def test_emit_writes_keys_up_to_the_limit() -> None:
    """The longest key allowed is read back."""
    body = {"é" * 1000: 1}
    assert fast(emit(body).decode()) == body
