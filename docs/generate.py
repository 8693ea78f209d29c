"""Write docs/reference/ from the code: `python -m docs.generate [--check]`.

It first writes the digests of what is shipped: Trainyard, and so this program, refuses a schema
that differs.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from docs.fields import anchor, cell, profile_fields
from trainyard import shipped
from trainyard.cli.app import app
from trainyard.diagnostics import Rule
from trainyard.history import check as change
from trainyard.profiles.read import PACKAGE
from trainyard.render.catalog import CATALOG, DELIVERY, Entry
from trainyard.rulebook import all_rules
from trainyard.workflows import freshness
from trainyard.yaml_io.reader import read

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"
SHIPPED = {"schema": "*.json", "presets": "*.yaml", "releases": "*/release.yaml"}
CASES = ROOT / "tests" / "rules"
_COMMITTED = frozenset((*change.RULES, *freshness.RULES))
_WHEN = (
    "*When.* In `generate` and `verify`, which have the committed tree; `validate` has none."
    " `before` in an example is what that tree was made from."
)
_WRITTEN = "<!-- Written by `make docs` from the code. Do not edit. -->"


def main(arguments: list[str]) -> int:
    """Write the reference, or with ``--check`` tell which pages are stale."""
    if "--check" not in arguments:
        for folder, pattern in SHIPPED.items():
            (PACKAGE / folder / shipped.LIST).write_bytes(
                shipped.digests(PACKAGE / folder, pattern)
            )
    wanted = pages()
    present = {path.relative_to(REFERENCE).as_posix(): path for path in REFERENCE.rglob("*.md")}
    extra = sorted(present.keys() - wanted.keys())
    stale = [
        name
        for name, text in wanted.items()
        if name not in present or present[name].read_text("utf-8") != text
    ]
    if "--check" in arguments:
        sys.stderr.writelines(
            f"docs/reference/{name} is stale: run `make docs`\n" for name in (*stale, *extra)
        )
        return int(bool(stale or extra))
    for name in stale:
        (REFERENCE / name).parent.mkdir(parents=True, exist_ok=True)
        (REFERENCE / name).write_text(wanted[name], encoding="utf-8", newline="\n")
    for name in extra:
        present[name].unlink()
    return 0


def pages() -> dict[str, str]:
    """Return every page of the reference by its name."""
    families: dict[str, list[Rule]] = defaultdict(list)
    for rule in all_rules():
        families[rule.id.partition("/")[0]].append(rule)
    parts: dict[str, Iterable[str]] = {
        "cli.md": _cli(app),
        "presets.md": _presets(),
        "profiles.md": profile_fields(),
        "resources.md": _resources(),
        "rules.md": _rules(families),
        **{f"rules/{family}.md": _family(family, rules) for family, rules in families.items()},
    }
    return {
        name: "\n".join((_WRITTEN, *lines)).rstrip() + "\n" for name, lines in sorted(parts.items())
    }


def _rules(families: Mapping[str, list[Rule]]) -> Iterator[str]:
    yield from (
        "# Rules",
        "",
        "What Trainyard refuses, by family. `trainyard explain RULE` prints the same page.",
    )
    yield from (
        (
            "An error can't be waived; a warning can, in `profiles/waivers.yaml` "
            "([how](profiles.md#waivers))."
        ),
        "",
    )
    yield from ("| rule | severity | what must hold |", "|---|---|---|")
    for family, rules in families.items():
        for rule in rules:
            link = f"rules/{family}.md#{anchor(rule.id)}"
            yield f"| [`{rule.id}`]({link}) | {rule.severity} | {cell(rule.summary)} |"


def _family(family: str, rules: list[Rule]) -> Iterator[str]:
    yield from (f"# {family}", "", "[All rules](../rules.md)")
    yield from (
        "",
        "Examples are the tests' own: for each profile what is changed in it; `null` removes.",
    )
    for rule in rules:
        yield from (
            "",
            f"## {rule.id}",
            "",
            f"**{rule.severity}**: {rule.summary}",
            "",
            f"*Why.* {rule.why}",
        )
        yield from ("", f"*Fix.* {rule.fix}")
        if rule in _COMMITTED:
            yield from ("", _WHEN)
        for name, title in (
            ("bad.yaml", "Wrong"),
            ("bad.expected", "Trainyard says"),
            ("good.yaml", "Right"),
        ):
            yield from _case(CASES / rule.id / name, title)


def _case(path: Path, title: str) -> Iterator[str]:
    """Yield the case file that the tests run: profiles, and what it changes in each."""
    if path.is_file():
        language = "yaml" if path.suffix == ".yaml" else "text"
        yield from (
            "",
            f"{title}:",
            "",
            f"```{language}",
            path.read_text(encoding="utf-8").rstrip(),
            "```",
        )


def _resources() -> Iterator[str]:
    yield from ("# Resources", "", "One template, one line of the catalog, one kind of object.", "")
    yield from (
        "| template | kind | one for each | folder | releases | remark of the template |",
        "|---|---|---|---|---|---|",
    )
    entries: tuple[Entry[Any], ...] = (*CATALOG, *DELIVERY)
    for entry in entries:
        text = (ROOT / "templates" / f"{entry.template}.yaml.j2").read_text(encoding="utf-8")
        kind = re.search(r"^kind: (\w+)", text, re.MULTILINE)
        remark = re.match(r"{# (.*?) #}", text, re.DOTALL)
        told = " ".join(remark[1].split()) if remark else ""
        unit = entry.template.partition("/")[0]
        where = _UNITS.get(unit, f"`{unit}/`")
        releases = f"with `{entry.feature}`" if entry.feature else "all"
        shape = f"`{entry.template}` | {kind[1] if kind else ''} | {_subject(entry.scopes)}"
        yield f"| {shape} | {where} | {releases} | {cell(told)} |"


_UNITS = {
    "nodes": "`nodes/` (never synced)",
    "operators": "`operators/` (never synced)",
    "samples": "`samples/` (never synced)",
    "team": "`teams/<team>/`",
}


def _subject(scopes: Any) -> str:
    """Return what a template is rendered for, from the catalog's own name for it."""
    closure = inspect.getclosurevars(scopes).nonlocals
    if "mpi" in closure:
        return "runtime and kind of node"
    member = closure.get("name")
    name: str = scopes.__name__
    return (
        f"{member} of a team" if member else _SUBJECTS.get(name, name.strip("_").removesuffix("s"))
    )


_SUBJECTS = {
    "_audited": "cluster with a team under audit",
    "_delivery": "cluster",
    "_fabric_pools": "pool with a fabric",
    "_priorities": "priority",
    "_projects": "team",
    "_spaces": "namespace of a team",
    "_tenants": "team",
}


def _presets() -> Iterator[str]:
    yield from (
        "# Hardware presets",
        "",
        "A hardware profile `extends` one and overrides what differs.",
    )
    yield "A preset exists only when each of its fields has a source."
    for path in sorted((PACKAGE / "presets").glob("*.yaml")):
        source, _ = read(path.name, path.read_bytes())
        fields = dict(source.value)
        origins = fields.pop("sources")
        yield from ("", f"## {path.stem}", "", f"{fields.pop('description')}.", "")
        yield from ("| field | value | source |", "|---|---|---|")
        for field, value in fields.items():
            yield f"| `{field}` | {_value(value)} | {cell(origins.get(field, ''))} |"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "<br>".join(map(_value, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} `{each}`" for key, each in value.items())
    return f"`{value}`" if value != "" else "empty"


def _cli(command: click.Command) -> Iterator[str]:
    yield from ("# Command line", "", inspect.cleandoc(command.help or ""))
    for name, each in _commands(command, ""):
        # As in a real call, where the command inherits them; click keeps the help option of the
        # first call.
        inherited = command.context_settings["help_option_names"]
        context = click.Context(
            each, info_name=f"trainyard {name}", terminal_width=200, help_option_names=inherited
        )
        yield from ("", f"## {name}", "", inspect.cleandoc(each.help or ""), "")
        yield from ("```console", f"$ {context.get_usage().removeprefix('Usage: ')}", "```", "")
        options = [param.get_help_record(context) for param in each.get_params(context)]
        yield from ("| option | what |", "|---|---|")
        yield from (
            f"| `{cell(record[0])}` | {cell(record[1])} |"
            for record in options
            if record and record[1]
        )


def _commands(command: click.Command, prefix: str) -> Iterator[tuple[str, click.Command]]:
    """Yield each command that does something, with its full name."""
    if not isinstance(command, click.Group):
        yield prefix.strip(), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        each = command.get_command(context, name)
        assert each is not None, name
        yield from _commands(each, f"{prefix} {name}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
