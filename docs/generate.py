"""Write docs/reference/ and docs/requirements.md: `python -m docs.generate [--check]`.

It first writes the digests of what is shipped: Trainyard, and so this program, refuses a schema
that differs.
"""

from __future__ import annotations

import inspect
import posixpath
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from docs.alerts import alerts
from docs.dashboards import dashboards
from docs.fields import profile_fields
from docs.glossary import GLOSSARY, link
from docs.markdown import anchor, cell
from docs.names import names
from docs.platforms import platforms
from docs.reactions import edits
from docs.requirements import requirements
from trainyard.change import history
from trainyard.cli.app import app
from trainyard.cli.forms import MODULES
from trainyard.diagnostics import Rule
from trainyard.profiles.read import PACKAGE
from trainyard.render.catalog import CATALOG, DELIVERY, Entry
from trainyard.rulebook import all_rules, rules_found_by
from trainyard.rules import review
from trainyard.shipped import write_lists
from trainyard.tree import freshness
from trainyard.yaml_io.reader import read
from trainyard_rehearsal.promises import APPLIED, DELIVERED, UPGRADED

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
CASES = ROOT / "tests" / "rules"
WRITTEN = "<!-- Written by `make docs` from the code. Do not edit. -->"
_COMMITTED = (
    "*When.* In `generate` and `verify`, which compare with the committed tree."
    " `validate` does not. `before` in an example lists the profiles of that tree."
)
_REVIEWED = "*When.* In `diff` alone, which compares with a base."
_WHEN = {
    **{rule: _COMMITTED for room in (history, freshness) for rule in rules_found_by(room)},
    **dict.fromkeys(review.RULES, _REVIEWED),
}
_SENTENCE_END = re.compile(r"(?<!e\.g\.)(?<=[a-z0-9)`*\]][.!?]) +(?=[A-Z`\[*])")


def main(arguments: list[str]) -> int:
    """Write the reference, or with ``--check`` report which pages are stale."""
    if "--check" in arguments:
        stale, extra = _differences(pages())
        for name in (*stale, *extra):
            sys.stderr.write(f"docs/{name} is stale: run `make docs`\n")
        return int(bool(stale or extra))
    write_lists(PACKAGE)
    wanted = pages()
    stale, extra = _differences(wanted)
    for name in extra:
        (DOCS / name).unlink()
    for name in stale:
        _write(DOCS / name, wanted[name])
    return 0


def _differences(wanted: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return the names of the pages to write, and of those to delete."""
    present = _present()
    stale = [name for name in wanted if present.get(name) != wanted[name]]
    return stale, sorted(present.keys() - wanted.keys())


def _write(page: Path, text: str) -> None:
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8", newline="\n")


def _present() -> dict[str, str]:
    """Return the text of every page that is not written by hand; the glossary is."""
    reference = DOCS / "reference"
    paths = {*reference.rglob("*.md"), *DOCS.glob("requirements.md")} - {reference / GLOSSARY.name}
    return {path.relative_to(DOCS).as_posix(): path.read_text("utf-8") for path in paths}


def pages() -> dict[str, str]:
    """Return every generated page by its path below docs/."""
    families: dict[str, list[Rule]] = defaultdict(list)
    for rule in all_rules():
        families[rule.id.partition("/")[0]].append(rule)
    parts: dict[str, Iterable[str]] = {
        "reference/alerts.md": alerts(),
        "reference/cli.md": _cli(app),
        "reference/dashboards.md": dashboards(),
        "reference/edits.md": edits(),
        "reference/names.md": names(),
        "reference/platforms.md": platforms(),
        "reference/presets.md": _presets(),
        "reference/profiles.md": profile_fields(),
        "reference/rehearsal.md": _rehearsal(),
        "reference/resources.md": _resources(),
        "reference/rules.md": _rules(families),
        "requirements.md": requirements(),
    }
    for family, rules in families.items():
        parts[f"reference/rules/{family}.md"] = _family(family, rules)
    glossary = GLOSSARY.read_text("utf-8")
    return {name: _page(name, parts[name], glossary) for name in sorted(parts)}


def _page(name: str, lines: Iterable[str], glossary: str) -> str:
    text = "\n".join((WRITTEN, *lines)).rstrip() + "\n"
    to_glossary = posixpath.relpath(f"reference/{GLOSSARY.name}", posixpath.dirname(name) or ".")
    return link(text, to_glossary, glossary)


def _rules(families: Mapping[str, list[Rule]]) -> Iterator[str]:
    yield from (
        "# Rules",
        "",
        "Every rule, by family.",
        "`trainyard explain RULE` prints the text of one rule.",
        "An error can't be waived, unless its text says so.",
        "A warning can, in `profiles/waivers.yaml` ([fields](profiles.md#waivers)).",
        "",
        "| rule | severity | what must hold |",
        "|---|---|---|",
    )
    for family, rules in families.items():
        for rule in rules:
            page = f"rules/{family}.md#{anchor(rule.id)}"
            yield f"| [`{rule.id}`]({page}) | {rule.severity} | {cell(rule.summary)} |"


def _family(family: str, rules: list[Rule]) -> Iterator[str]:
    yield from (
        f"# {family}",
        "",
        "[All rules](../rules.md)",
        "",
        "The examples are test cases.",
        "They list, for each profile, only what changes in it; `null` removes a key.",
    )
    for rule in rules:
        yield from ("", f"## {rule.id}", "", *_sentences(f"**{_severity(rule)}**: {rule.summary}"))
        yield from ("", *_sentences(f"*Why.* {rule.why}"))
        yield from ("", *_sentences(f"*Fix.* {rule.fix}"))
        if rule in _WHEN:
            yield from ("", *_sentences(_WHEN[rule]))
        yield from _case(CASES / rule.id / "bad.yaml", "Wrong")
        yield from _case(CASES / rule.id / "bad.expected", "Trainyard reports")
        yield from _case(CASES / rule.id / "good.yaml", "Right")


def _severity(rule: Rule) -> str:
    return f"{rule.severity} that a waiver lifts" if rule.waivable else str(rule.severity)


def _sentences(text: str) -> list[str]:
    """Return a text with one sentence a line."""
    label, _, sentences = text.partition(" ")
    first, *others = _SENTENCE_END.split(sentences)
    return [f"{label} {first}", *others]


def _case(path: Path, title: str) -> Iterator[str]:
    """Yield the case file that the tests run: profiles, and what it changes in each."""
    if path.is_file():
        language = "yaml" if path.suffix == ".yaml" else "text"
        body = path.read_text(encoding="utf-8").rstrip()
        yield from ("", f"{title}:", "", f"```{language}", body, "```")


def _resources() -> Iterator[str]:
    yield from (
        "# Resources",
        "",
        "Each template has one line in the catalog and renders one kind of object.",
        "",
        "| template | kind | one for each | folder | releases | remark of the template |",
        "|---|---|---|---|---|---|",
    )
    entries: tuple[Entry[Any], ...] = (*CATALOG, *DELIVERY)
    yield from map(_resource, entries)


def _resource(entry: Entry[Any]) -> str:
    text = (ROOT / "templates" / f"{entry.template}.yaml.j2").read_text(encoding="utf-8")
    kind = re.search(r"^kind: (\w+)", text, re.MULTILINE)
    comment = re.match(r"{# (.*?) #}", text, re.DOTALL)
    remark = comment[1] if comment else ""
    unit = entry.template.partition("/")[0]
    folder = _UNITS.get(unit, f"`{unit}/`")
    releases = f"with `{entry.feature}`" if entry.feature else "all"
    shape = f"`{entry.template}` | {kind[1] if kind else ''} | {_subject(entry.scopes)}"
    return f"| {shape} | {folder} | {releases} | {cell(remark)} |"


_UNITS = {
    "nodes": "`nodes/` (synced by hand)",
    "operators": "`operators/` (never synced)",
    "samples": "`samples/` (never synced)",
    "team": "`teams/<team>/`",
}


def _subject(scopes: Any) -> str:
    """Return what a template is rendered for, from the catalog's own name for it."""
    closure = inspect.getclosurevars(scopes).nonlocals
    if "pods" in closure:
        return "controller that nobody has scraped"
    if "mpi" in closure:
        return "runtime and kind of node"
    if usual := closure.get("usual"):
        return _subject(usual)
    if staged := closure.get("wanted") or closure.get("spaces"):
        return f"{_subject(staged)}, and stage of its teams"
    if member := closure.get("name"):
        return f"{member} of a team"
    name: str = scopes.__name__
    subject = _SUBJECTS.get(name, name.removesuffix("s"))
    if "_" in subject:
        raise LookupError(f"{name} of trainyard.render.scopes needs a name for readers")
    return subject


_SUBJECTS = {
    "cleanup": "cluster that deletes finished jobs",
    "cleanup_secret": "cluster that deletes finished jobs with a pull secret",
    "copied_launches": "runtime that teams may copy",
    "debugged": "cluster with debuggers",
    "delivery": "cluster",
    "fabric_pools": "pool with a fabric",
    "rail_pools": "pool with rails",
    "limited_spaces": "namespace of a team that is held to the rules",
    "logged": "cluster whose logs are kept",
    "open_spaces": "namespace of a team at a stage before",
    "own_runtime_spaces": "namespace with runtimes of its own",
    "own_runtimes": "cluster with teams' own runtimes",
    "priorities": "priority",
    "projects": "team",
    "rulesets": "family of alerts",
    "scopes": "dashboard",
    "spaces": "namespace of a team",
    "spaces_with_metrics": "namespace whose jobs are scraped",
    "spaces_with_mpi_jobs": "namespace with MPIJobs",
    "with_adopted_volumes": "cluster with adopted volumes",
    "with_mpi_jobs": "cluster with MPIJobs",
    "with_secret_stores": "cluster with secret stores",
}
"""What a reader calls the scopes whose names say it differently."""


def _presets() -> Iterator[str]:
    yield from (
        "# Hardware presets",
        "",
        "A hardware profile `extends` a preset and overrides what differs.",
        "Each field of a preset has a public source.",
    )
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


def _rehearsal() -> Iterator[str]:
    yield from ("# Lines of a rehearsal", "")
    yield "`trainyard rehearse` prints one line for each check: how often it held, and was tried."
    yield "A line is missing if no object or job of the cluster can show it."
    tables = {
        "The applied tree": APPLIED,
        "The delivery by Argo CD": DELIVERED,
        "An upgrade": UPGRADED,
    }
    for title, promises in tables.items():
        yield from ("", f"## {title}", "")
        yield from ("| line | what is counted | what a failure means |", "|---|---|---|")
        for name, promise in promises.items():
            yield f"| `{name}` | {cell(promise.counts)} | {cell(promise.failure)} |"


def _cli(command: click.Command) -> Iterator[str]:
    yield from ("# Command line", "", inspect.cleandoc(command.help or ""))
    yield from _forms()
    help_options = command.context_settings["help_option_names"]
    for name, each in _commands(command, ""):
        yield from _command(f"trainyard {name}", each, help_options)


def _forms() -> Iterator[str]:
    """Yield the section of the forms that findings have, each with the sentence of its module."""
    yield from ("", "## Forms of findings", "")
    yield from ("Commands that report findings take each of them as `--format`.", "")
    yield from ("| form | what it is |", "|---|---|")
    for form, module in MODULES.items():
        sentence, _, _ = inspect.cleandoc(import_module(module).__doc__ or "").partition("\n")
        yield f"| `{form}` | {cell(sentence)} |"


def _command(name: str, command: click.Command, help_options: list[str]) -> Iterator[str]:
    """Yield the section of one command.

    The help options are given because click keeps those of the first context, and a command
    inherits them only in a real call.
    """
    context = click.Context(
        command, info_name=name, terminal_width=200, help_option_names=help_options
    )
    yield from ("", f"## {name.removeprefix('trainyard ')}", "")
    yield from (inspect.cleandoc(command.help or ""), "")
    yield from ("```console", f"$ {context.get_usage().removeprefix('Usage: ')}", "```", "")
    yield from ("| option | meaning |", "|---|---|")
    for parameter in command.get_params(context):
        option, text = parameter.get_help_record(context) or ("", "")
        if text:
            yield f"| `{cell(option)}` | {cell(text)} |"


def _commands(command: click.Command, prefix: str) -> Iterator[tuple[str, click.Command]]:
    """Yield each command that is not a group of commands, with its full name."""
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
