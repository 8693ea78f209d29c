"""Writes docs/reference/ from the code, so that it can't say anything else: `python -m docs.generate [--check]`."""

from __future__ import annotations

import inspect
import pkgutil
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import click

import generator
from generator.cli.main import main as cli
from generator.diagnostics import Rule
from generator.dialect.reader import read
from generator.load.read import PACKAGE
from generator.render.catalog import CATALOG, DELIVERY
from generator.schema.profiles import profile_kinds, profile_schema

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"
CASES = ROOT / "tests" / "rules"
_WRITTEN = "<!-- Written by `make docs` from the code. Do not edit. -->"


def main(arguments: list[str]) -> int:
    """Write the reference, or with ``--check`` tell which pages are stale."""
    wanted = pages()
    present = {path.relative_to(REFERENCE).as_posix(): path for path in REFERENCE.rglob("*.md")}
    extra = sorted(present.keys() - wanted.keys())
    stale = [name for name, text in wanted.items() if name not in present or present[name].read_text("utf-8") != text]
    if "--check" in arguments:
        sys.stderr.writelines(f"docs/reference/{name} is stale: run `make docs`\n" for name in (*stale, *extra))
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
        "cli.md": _cli(cli),
        "presets.md": _presets(),
        "profiles.md": _profiles(),
        "resources.md": _resources(),
        "rules.md": _rules(families),
        **{f"rules/{family}.md": _family(family, rules) for family, rules in families.items()},
    }
    return {name: "\n".join((_WRITTEN, *lines)).rstrip() + "\n" for name, lines in sorted(parts.items())}


def all_rules() -> list[Rule]:
    """Return every rule that a module of the generator defines, sorted by id."""
    found: dict[str, Rule] = {}
    for module in pkgutil.walk_packages(generator.__path__, "generator."):
        found |= {each.id: each for each in vars(import_module(module.name)).values() if isinstance(each, Rule)}
    return [rule for _, rule in sorted(found.items())]


def _profiles() -> Iterator[str]:
    yield from ("# Profiles", "", "Every field of every profile. *Required* means that the field has no default.")
    yield from ("", "| profile | what it says |", "|---|---|")
    for kind in profile_kinds():
        schema = profile_schema(kind)
        yield f"| [`{_PLACES[kind]}`](#{_anchor(schema['title'])}) | {_cell(schema['description'])} |"
    for kind in profile_kinds():
        schema = profile_schema(kind)
        yield from ("", f"## {schema['title']}", "", f"`{_PLACES[kind]}`. {schema['description']}", "")
        yield from ("| field | what | takes | default |", "|---|---|---|---|")
        yield from _fields(schema, schema.get("definitions", {}), "")


_PLACES = {
    "allocations": "profiles/allocations.yaml",
    "cluster": "profiles/clusters/NAME.yaml",
    "hardware": "profiles/hardware/NAME.yaml",
    "runtime": "profiles/runtimes/NAME.yaml",
    "team": "profiles/teams/NAME.yaml",
    "trainyard": "profiles/trainyard.yaml",
    "waivers": "profiles/waivers.yaml",
}


def _fields(schema: Mapping[str, Any], definitions: Mapping[str, Any], path: str) -> Iterator[str]:
    """Yield a row for each field at and below a schema; ``<name>`` stands for a key that the user chooses."""
    members = dict(schema.get("properties", {}))
    required = schema.get("required", [])
    open_keys = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
    members |= {"<name>": each for each in open_keys if isinstance(each, dict)}
    for name, member in members.items():
        field = _resolved(member, definitions)
        here = f"{path}.{name}".lstrip(".")
        yield f"| `{here}` | {_what(field)} | {_takes(field, definitions)} | {_default(field, name in required)} |"
        yield from _fields(field, definitions, here)
        yield from _fields(_resolved(field.get("items", {}), definitions), definitions, f"{here}[]")


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    return definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _what(field: Mapping[str, Any]) -> str:
    title, description = field.get("title", ""), field.get("description", "")
    return _cell(f"**{title}**. {description}" if title else description)


def _takes(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """Return in words what a field takes; the schema's own words where it has a pattern."""
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    kinds = field.get("type", "")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    words = " or ".join(_TYPES[kind] for kind in kinds if kind)
    limits = [f"{text} {field[key]}" for key, text in _LIMITS.items() if key in field]
    if "items" in field:
        words += f" of: {_takes(_resolved(field['items'], definitions), definitions)}"
    return _cell("; ".join(filter(None, [field.get("x-message", words), *limits])))


_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "object": "a mapping",
    "string": "text",
}
_LIMITS = {"minimum": "at least", "maximum": "at most", "maxLength": "characters, at most", "maxItems": "items, at most"}


def _default(field: Mapping[str, Any], required: bool) -> str:
    if required:
        return "*required*"
    default = field.get("default")
    return "" if default is None else f"`{', '.join(default) if isinstance(default, list) else default}`"


def _rules(families: Mapping[str, list[Rule]]) -> Iterator[str]:
    yield from ("# Rules", "", "What Trainyard refuses, by family. `trainyard explain RULE` prints the same page.")
    yield from ("An error can't be waived; a warning can, in `profiles/waivers.yaml` ([how](profiles.md#waivers)).", "")
    yield from ("| rule | severity | what must hold |", "|---|---|---|")
    for family, rules in families.items():
        for rule in rules:
            link = f"rules/{family}.md#{_anchor(rule.id)}"
            yield f"| [`{rule.id}`]({link}) | {rule.severity} | {_cell(rule.summary)} |"


def _family(family: str, rules: list[Rule]) -> Iterator[str]:
    yield from (f"# {family}", "", "[All rules](../rules.md)")
    for rule in rules:
        yield from ("", f"## {rule.id}", "", f"**{rule.severity}**: {rule.summary}", "", f"*Why.* {rule.why}")
        yield from ("", f"*Fix.* {rule.fix}")
        for name, title in (("bad", "Wrong"), ("good", "Right")):
            yield from _example(CASES / rule.id, name, title)


def _example(folder: Path, name: str, title: str) -> Iterator[str]:
    """Yield the case file that the tests run, when the rule has one."""
    for path in sorted(folder.glob(f"{name}*.yaml"))[:1]:
        yield from ("", f"{title}:", "", "```yaml", path.read_text(encoding="utf-8").rstrip(), "```")


def _resources() -> Iterator[str]:
    yield from ("# Resources", "", "One template, one line of the catalog, one kind of object.", "")
    yield from ("| template | kind | one for each | sync unit | remark of the template |", "|---|---|---|---|---|")
    for entry in (*CATALOG, *DELIVERY):
        text = (ROOT / "templates" / f"{entry.template}.yaml.j2").read_text(encoding="utf-8")
        kind = re.search(r"^kind: (\w+)", text, re.MULTILINE)
        remark = re.match(r"{# (.*?) #}", text, re.DOTALL)
        told = " ".join(remark[1].split()) if remark else ""
        unit = entry.template.partition("/")[0]
        where = _UNITS.get(unit, f"`{unit}/`")
        yield f"| `{entry.template}` | {kind[1] if kind else ''} | {_subject(entry.scopes)} | {where} | {_cell(told)} |"


_UNITS = {"team": "`teams/<team>/`", "samples": "`samples/` (never synced)"}


def _subject(scopes: Any) -> str:
    """Return what a template is rendered for, from the catalog's own name for it."""
    member = inspect.getclosurevars(scopes).nonlocals.get("name")
    one = {"_delivery": "cluster", "_projects": "team", "_tenants": "team", "_launches": "runtime and hardware"}
    name = scopes.__name__
    plain = one.get(name, name.strip("_").replace("_", " ").removesuffix("s").replace("ie", "y"))
    return f"{member} of a team" if member else plain


def _presets() -> Iterator[str]:
    yield from ("# Hardware presets", "", "A hardware profile `extends` one and overrides what differs.")
    yield "A preset exists only when each of its fields has a source."
    for path in sorted((PACKAGE / "presets").glob("*.yaml")):
        source, _ = read(path.name, path.read_bytes())
        fields = dict(source.value)
        origins = fields.pop("sources")
        yield from ("", f"## {path.stem}", "", f"{fields.pop('description')}.", "")
        yield from ("| field | value | source |", "|---|---|---|")
        for field, value in fields.items():
            yield f"| `{field}` | {_value(value)} | {_cell(origins.get(field, ''))} |"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "<br>".join(map(_value, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} `{each}`" for key, each in value.items())
    return f"`{value}`"


def _cli(command: click.Command) -> Iterator[str]:
    yield from ("# Command line", "", *_EXIT_CODES)
    for name, each in _commands(command, ""):
        context = click.Context(each, info_name=f"trainyard {name}")
        yield from ("", f"## {name}", "", inspect.cleandoc(each.help or ""), "")
        yield from ("```console", f"$ {context.get_usage().removeprefix('Usage: ')}", "```", "")
        options = [param.get_help_record(context) for param in each.get_params(context)]
        yield from ("| option | what |", "|---|---|")
        yield from (f"| `{_cell(record[0])}` | {_cell(record[1])} |" for record in options if record)


_EXIT_CODES = (
    "Exit codes, the same for every command and format:",
    "",
    "| code | meaning |",
    "|---|---|",
    "| 0 | fine |",
    "| 1 | findings |",
    "| 2 | the command line is wrong |",
    "| 3 | no input: there are no profiles |",
    "| 4 | a tool or schema is missing or broken; nothing is ever skipped instead |",
    "| 5 | a file can't be read or written; the tree is untouched |",
    "| 70 | a bug of Trainyard |",
)


def _commands(command: click.Command, prefix: str) -> Iterator[tuple[str, click.Command]]:
    """Yield each command that does something, with its full name."""
    if not isinstance(command, click.Group):
        yield prefix.strip(), command
        return
    for name, each in sorted(command.commands.items()):
        yield from _commands(each, f"{prefix} {name}")


def _anchor(title: str) -> str:
    """Return the anchor that GitHub and GitLab give a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
