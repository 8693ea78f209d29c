"""A build gives what the real Jinja and a YAML reader give for the same template, and never less
safe."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from itertools import count
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from trainyard.generation.generate import generate
from trainyard.model.platform import Site
from trainyard.render.attributes import owner
from trainyard.render.catalog import CATALOG, Entry
from trainyard.render.compile import Scope, compile_template
from trainyard.render.grammar import GrammarError

TEMPLATES = Path(__file__).parents[2] / "templates"

NAMES = ("a", "b", "c")

Draw = st.DrawFn


def _json_node(value: Any) -> str:
    # An Undefined raises here, as a real template must.
    return json.dumps(
        value if isinstance(value, dict | tuple | list | bool | int) else str(value),
        ensure_ascii=False,
    )


class _Jinja(ImmutableSandboxedEnvironment):
    def getattr(self, obj: Any, attribute: str) -> Any:
        return super().getattr(owner(obj, attribute), attribute)


JINJA = _Jinja(
    undefined=StrictUndefined,
    finalize=_json_node,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,
)


def by_jinja(text: str, scope: Scope) -> Any:
    return yaml.load(JINJA.from_string(text).render(scope), Loader=yaml.CSafeLoader)


def same(ours: Any, theirs: Any) -> bool:
    """Compare, types included; a collection all of whose entries are left out is null in text."""
    if theirs is None:
        return ours in (None, {}, [])
    if isinstance(theirs, dict):
        return list(ours) == list(theirs) and all(
            same(ours[key], value) for key, value in theirs.items()
        )
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return type(ours) is type(theirs) and ours == theirs


HOSTILE: tuple[str, ...] = (
    "",
    "---",
    '"',
    "'",
    "{{ a }}",
    "{% if a %}",
    "{# a #}",
    "_{{0}}",
    "x: y",
    "- x",
    "yes",
    "1e3",
    "a\nb: c",
    "# c",
)
HOSTILE += (
    "\n---\nkind: Secret",
    " ",
    "\t",
    "\\",
    "\N{ROCKET}",
    "&a",
    "*a",
    "!!int 1",
    "null",
    "07",
    "%",
)
readable = st.characters(
    codec="utf-8",
    exclude_categories=(
        "Cc",
        "Zl",
        "Zp",
    ),  # PyYAML refuses or folds them raw, as Jinja would write them
    exclude_characters="\ufeff\ufffe\uffff",
    include_characters="\n\t\x00",
)
texts = st.sampled_from(HOSTILE) | st.text(readable, max_size=8)
scalars = st.one_of(texts, st.integers(-(10**12), 10**12), st.booleans())
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple) | st.dictionaries(texts, inner, max_size=3)
    ),
    max_leaves=6,
)


@dataclass(frozen=True, slots=True)
class Thing:
    """Stands for a model object."""

    value: object
    flag: bool
    size: int
    many: tuple[object, ...]


class Mode(StrEnum):
    """Stands for a closed list of the model."""

    ANY = "Any"


class Size(IntEnum):
    """Stands for a number with a name."""

    ONE = 1


things = st.builds(
    Thing, values, st.booleans(), st.integers(0, 2), st.lists(values, max_size=3).map(tuple)
)
parents = st.builds(
    Thing, values, st.booleans(), st.integers(0, 2), st.lists(things, max_size=3).map(tuple)
)
scopes = st.fixed_dictionaries(dict.fromkeys(NAMES, parents))


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _if(draw: Draw, make: Callable[[Draw, int], list[str]], level: int) -> list[str]:
    name, other = draw(st.sampled_from(NAMES)), draw(st.sampled_from(NAMES))
    tests = (
        f"{name}.flag",
        f"not {name}.flag",
        f"{name}.size == 1 or {other}.flag",
        f"{name}.size != {other}.size",
    )
    lines = [f"{{% if {draw(st.sampled_from(tests))} %}}", *make(draw, level - 1)]
    if draw(st.booleans()):
        lines += [f"{{% elif {draw(st.sampled_from(tests))} %}}", *make(draw, level - 1)]
    if draw(st.booleans()):
        lines += ["{% else %}", *make(draw, level - 1)]
    return [*lines, "{% endif %}"]


def _value(draw: Draw, level: int) -> tuple[str, list[str]]:
    kind = draw(st.sampled_from(("path", "constant", "mapping", "sequence")[: 4 if level else 2]))
    if kind == "path":
        return (
            (
                " {{ "
                f"{draw(st.sampled_from(NAMES))}.{draw(st.sampled_from(('value', 'flag', 'size')))} "  # noqa: E501 - one value
                "}}"
            ),
            [],
        )
    if kind == "constant":
        return draw(
            st.sampled_from((" 1", " word", ' "quoted # text"', " true  # why", " {}", " [1, two]"))
        ), []
    return "", _indented((_mapping if kind == "mapping" else _sequence)(draw, level - 1))


def _entry(draw: Draw, level: int) -> list[str]:
    head, rest = _value(draw, level)
    return [f"KEY:{head}", *rest]


def _mapping(draw: Draw, level: int) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        lines += (
            _if(draw, _mapping, level)
            if level > 0 and draw(st.booleans())
            else _entry(draw, max(level, 0))
        )
    return lines


def _item(draw: Draw, level: int) -> list[str]:
    if level > 0 and draw(st.booleans()):
        first, *rest = [*_entry(draw, level - 1), *_mapping(draw, level - 1)]
        return [f"- {first}", *_indented(rest)]
    return [f"-{_value(draw, 0)[0]}"]


def _sequence(draw: Draw, level: int) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(("item", "if", "for"))) if level > 0 else "item"
        if kind == "for":
            source = draw(st.sampled_from(NAMES))
            body = (
                ["- {{ x.value }}", *_sequence(draw, level - 1)]
                if draw(st.booleans())
                else ["- n: {{ x.many }}"]
            )
            lines += [f"{{% for x in {source}.many %}}", *body, "{# done #}", "{% endfor %}"]
        else:
            lines += _if(draw, _sequence, level) if kind == "if" else _item(draw, level)
    return lines


@st.composite
def templates(draw: Draw) -> str:
    """Draw any template that the grammar allows; its keys are numbered, so that none stands
    twice."""
    numbers = count()
    return re.sub("KEY", lambda _: f"k{next(numbers)}", "\n".join(_mapping(draw, 3)) + "\n")


@pytest.mark.thorough
@given(templates(), scopes)
def test_build_equals_jinja_for_any_template(text: str, scope: Scope) -> None:
    """Whatever the template and the values, the build returns what Jinja's text means as YAML."""
    assert same(compile_template(text, "t")(scope), by_jinja(text, scope))


@given(values)
def test_build_returns_any_plain_value_unchanged(value: Any) -> None:
    """A value stays one value, of its own type, however it looks: no text is ever read."""
    text = "a: {{ x.value }}\nb:\n  - {{ x.value }}\n"
    built = compile_template(text, "t")({"x": {"value": value}})
    assert built == by_jinja(text, {"x": {"value": value}})
    assert same(built["a"], json.loads(json.dumps(value)))


HANDWRITTEN = """\
apiVersion: kueue.x-k8s.io/v1beta2
# Why this is here.
{# A note over
   two lines. #}
metadata:
  name: {{ team.name }}
{% if team.labels %}
  labels: {{ team.labels }}
{% endif %}
spec:
{% if team.mode == "open" %}
  policy: Any
{% elif team.mode != "shut" and not team.strict %}
  policy: Some
{% else %}
  policy: Never
{% endif %}
  script: |
    first: line

    last {line}
  groups:
{% for group in team.groups %}
    - name: {{ group.name }}
      flavors:
  {% for flavor in group.flavors %}
      - {{ flavor }}
  {% endfor %}
{% if group.extra %}
    - extra
{% endif %}
{% endfor %}
    - last
"""


@pytest.mark.parametrize("mode", ["open", "shut", "other"])
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("labels", [{}, MappingProxyType({"a/b": "yes", "items": "1"})])
def test_build_equals_jinja_for_a_template_with_everything(
    mode: str, strict: bool, labels: Mapping[str, str]
) -> None:
    """All forms of the grammar together agree with Jinja."""
    groups = [SimpleNamespace(name=f"g{n}", flavors=("x", n)[:n], extra=n == 1) for n in range(3)]
    team = {"name": "nlp", "labels": labels, "mode": mode, "strict": strict, "groups": groups}
    assert same(
        compile_template(HANDWRITTEN, "t")({"team": team}),
        by_jinja(HANDWRITTEN, {"team": {**team, "labels": dict(labels)}}),
    )


@pytest.fixture(scope="module")
def flagship() -> Site:
    """Return the one cluster of this repository's profiles."""
    platform = generate(TEMPLATES.parent / "profiles", "../profiles/components").checked.platform
    assert platform is not None
    return platform.sites[0]


@pytest.mark.parametrize("entry", CATALOG, ids=lambda entry: entry.template)
def test_build_equals_jinja_for_the_templates(entry: Entry[Site], flagship: Site) -> None:
    """Each template that ships means the same to Jinja, for everything that this repository renders
    it for."""
    text = (TEMPLATES / f"{entry.template}.yaml.j2").read_text(encoding="utf-8")
    build = compile_template(text, entry.template)
    for scope in entry.scopes(flagship):
        variables = {"cluster": flagship.cluster, "site": flagship, **scope.variables}
        assert same(build(variables), by_jinja(text, variables))


@pytest.mark.parametrize("file", sorted(TEMPLATES.rglob("*.yaml.j2")), ids=lambda file: file.name)
def test_templates_compile(file: Path) -> None:
    """Each template that ships becomes a build."""
    assert callable(compile_template(file.read_text(encoding="utf-8"), file.name))


def test_build_reads_mappings_by_key() -> None:
    """A key that is also a method of dict means the key."""
    assert compile_template("a: {{ x.items.keys }}\n", "t")({"x": {"items": {"keys": 1}}}) == {
        "a": 1
    }


def test_build_shares_constants_and_keeps_results_apart() -> None:
    """What does not depend on the scope is one object; what does is new each time."""
    build = compile_template("a: {b: 1}\nc:\n  - {{ x }}\n", "t")
    one, other = build({"x": 1}), build({"x": 2})
    assert one["a"] is other["a"]
    assert (one["c"], other["c"]) == ([1], [2])


def test_build_turns_enums_into_plain_scalars() -> None:
    """Members of string and integer enums arrive as exactly str and int."""
    built = compile_template("a: {{ x }}\n", "t")({"x": (Mode.ANY, Size.ONE, {Mode.ANY: True})})
    assert built == {"a": ["Any", 1, {"Any": True}]}
    assert [type(item) for item in built["a"]] == [str, int, dict]
    assert type(next(iter(built["a"][2]))) is str


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (None, LookupError, "None"),
        ((1, None), LookupError, "None"),
        (Thing(1, flag=True, size=1, many=()), TypeError, "Thing is not plain data"),
        ({"a": [Thing(1, flag=True, size=1, many=())]}, TypeError, "Thing is not plain data"),
        (1.5, TypeError, "float is not plain data"),
        ({1: 2}, TypeError, "a key of type int is not plain data"),
    ],
)
def test_build_refuses_values_that_are_not_plain_data(
    value: Any, error: type[Exception], message: str
) -> None:
    """A value that no manifest can hold is a bug of ours and names template, line and path."""
    with pytest.raises(error, match=rf"^team/t\.j2:2: b: \{{\{{ x\.y \}}\}}: .*{message}"):
        compile_template("a: 1\nb: {{ x.y }}\n", "team/t.j2")({"x": {"y": value}})


@pytest.mark.parametrize("scope", [{}, {"x": {}}, {"x": object()}])
@pytest.mark.parametrize(
    "text",
    [
        "b: {{ x.y }}\n",
        "{% if x.y %}\nb: 1\n{% endif %}\n",
        "b:\n{% for z in x.y %}\n- 1\n{% endfor %}\n",
    ],
)
def test_build_refuses_a_path_that_leads_nowhere(text: str, scope: Scope) -> None:
    """A missing name is an error wherever it is read, never an empty value."""
    with pytest.raises(LookupError, match=r"^t:[12]: .*: x\.y leads nowhere"):
        compile_template(text, "t")(scope)


@pytest.mark.parametrize("value", [None, "text", {"a": 1}, frozenset("a"), 1])
def test_build_loops_over_sequences_only(value: Any) -> None:
    """A loop over text, a mapping or anything without an order is an error."""
    with pytest.raises(TypeError, match=r"^t:2: .* not"):
        compile_template("a:\n{% for z in x %}\n- {{ z }}\n{% endfor %}\n", "t")({"x": value})


def test_compile_template_refuses_what_the_grammar_refuses() -> None:
    """There is no way around the grammar."""
    with pytest.raises(GrammarError):
        compile_template("a: {{ b | upper }}\n", "t")
