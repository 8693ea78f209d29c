"""The house rules that a machine can check."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from radon.complexity import cc_visit
from radon.visitors import Class, Function

from trainyard.generation.generate import generate
from trainyard.render.catalog import CATALOG, DELIVERY
from trainyard.render.folder import templates_folder
from trainyard.render.unit import HEALTH_CHECKS, ROUTES, STATES
from trainyard.schema.manifests import schema_folder

REPOSITORY = Path(__file__).resolve().parents[1]
MODULES = sorted(REPOSITORY.joinpath("generator").rglob("*.py"))
MODULE_LINES, FUNCTION_LINES, COMPLEXITY, COLUMNS = 300, 40, 8, 100
"""Budgets, as CONTRIBUTING.md states them; complexity as radon counts it."""


def name(module: Path) -> str:
    return module.relative_to(REPOSITORY).as_posix()


def test_every_module_keeps_the_budget() -> None:
    """A newcomer reads a module in one sitting."""
    sizes = {name(module): module.read_text(encoding="utf-8").count("\n") for module in MODULES}

    assert {module: lines for module, lines in sizes.items() if lines > MODULE_LINES} == {}


def test_every_function_keeps_the_budgets() -> None:
    """A function fits a screen and has few branches; a comprehension counts as one."""
    beyond = []
    for module in MODULES:
        for function in functions(module.read_text(encoding="utf-8")):
            lines = function.endline - function.lineno + 1
            if lines > FUNCTION_LINES or function.complexity > COMPLEXITY:
                beyond.append((name(module), function.name, lines, function.complexity))

    assert beyond == []


def functions(text: str) -> Iterator[Function]:
    """Yield the functions and methods of a module, with those inside of them."""
    left = [*cc_visit(text)]
    while left:
        block = left.pop()
        if isinstance(block, Class):
            left += [*block.methods, *block.inner_classes]
        else:
            yield block
            left += block.closures


def test_budget_sees_nested_functions() -> None:
    """A function inside of a function, of a method or of a class inside of one is judged too."""
    text = """
class Outer:
    class Inner:
        def method(self):
            def nested():
                def innermost():
                    pass
"""
    assert {each.name for each in functions(text)} == {"method", "nested", "innermost"}


def test_every_line_keeps_the_budget() -> None:
    """A line that excuses itself from ruff is one that a reader scrolls for."""
    beyond = [
        (name(module), number)
        for module in MODULES
        for number, line in enumerate(module.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > COLUMNS
    ]

    assert beyond == []


def test_contributing_states_the_budgets() -> None:
    """What the page says is what these tests hold."""
    page = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")

    assert f"module has at most {MODULE_LINES} lines, and a line {COLUMNS} columns" in page
    assert f"function has at most {FUNCTION_LINES} lines" in page
    assert f"complexity of at most {COMPLEXITY} as radon counts it" in page


def test_every_module_says_what_it_is_for() -> None:
    """It begins with a sentence, and its name says more than `util`."""
    for module in MODULES:
        assert ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))), name(module)
        assert not re.search(r"util|helper|manager|misc|common", module.stem), name(module)


def test_templates_and_catalog_are_the_same_set() -> None:
    """A template that nobody renders, or an entry without a template, is a mistake."""
    root = templates_folder()
    templates = {
        path.relative_to(root).as_posix().removesuffix(".yaml.j2")
        for path in root.rglob("*.yaml.j2")
    }
    entries = [*(entry.template for entry in CATALOG), *(entry.template for entry in DELIVERY)]

    assert len(entries) == len(set(entries))
    assert templates == {*entries, *HEALTH_CHECKS, ROUTES, STATES}


def test_every_entry_is_rendered_by_some_cluster() -> None:
    """What no profile of this repository renders, nobody has looked at.

    The rehearsal runs no MPI operator, so an example has the team with MPIJobs.
    """
    examples = ("from-mpijobs", "gb200-nvlink")
    folders = [REPOSITORY / "examples" / name / "profiles" for name in examples]
    folders.append(REPOSITORY / "profiles")
    generations = [generate(folder, "../profiles/components") for folder in folders]
    rendered = {
        entry.template
        for generation in generations
        if (platform := generation.checked.platform)
        for site in platform.sites
        for entry in CATALOG
        if (not entry.feature or entry.feature in site.cluster.release.features)
        and list(entry.scopes(site))
    }

    assert rendered == {entry.template for entry in CATALOG}


def test_every_kind_in_the_tree_has_a_schema() -> None:
    """No object goes unchecked for want of a schema."""
    generation = generate(REPOSITORY / "profiles", "../profiles/components")
    platform = generation.checked.platform
    assert platform is not None
    for site in platform.sites:
        for manifest in generation.manifests[site.name]:
            group, _, version = manifest.body["apiVersion"].rpartition("/")
            folder = schema_folder(site.cluster.release.name) / (group or "v1")
            assert (folder / f"{manifest.body['kind'].lower()}_{version}.json").is_file()


def test_a_normal_team_is_short_and_becomes_much() -> None:
    """At most 15 lines of a team make 25 objects or more on one cluster."""
    generation = generate(REPOSITORY / "profiles", "../profiles/components")
    for team in ("nlp", "science", "vision"):
        lines = (REPOSITORY / "profiles" / "teams" / f"{team}.yaml").read_text().splitlines()
        objects = [m for m in generation.manifests["prod-east"] if m.unit == f"teams/{team}"]
        assert len(lines) <= 15
        assert len(objects) >= 25


def test_files_of_users_are_read_with_a_limit() -> None:
    """Only what Trainyard ships is read whatever its size; `plainfile` reads the rest."""
    own = {
        *("golang", "proofs", "render/", "report/page", "shipped", "yaml_io/credential_forms"),
        *("scaffold/ci", "scaffold/profile", "scaffold/template"),
    }
    unbounded = re.compile(r"\.read_(?:bytes|text)\(")
    packages = [REPOSITORY / "generator" / name for name in ("trainyard", "trainyard_jobs")]
    found = [
        name
        for package in packages
        for path in sorted(package.rglob("*.py"))
        if unbounded.search(path.read_text(encoding="utf-8"))
        and not (name := path.relative_to(package).as_posix()).startswith(tuple(own))
    ]

    assert found == []


def test_no_host_name_or_machine_path_is_in_the_project() -> None:
    """What only one machine or workplace knows stays out of the repository."""
    suffixes = {".py", ".md", ".yaml", ".j2", ".toml", ".txt", ".sh", ".json"}
    forbidden = re.compile(r"(?<![\w.}])/(root|work)/|pypi\.org|proxy\.golang")
    own = Path(__file__).name
    found = [
        path.relative_to(REPOSITORY).as_posix()
        for folder in (
            "generator",
            "templates",
            "profiles",
            "overlays",
            "tests",
            "docs",
            "examples",
            "requirements",
        )
        for path in sorted((REPOSITORY / folder).rglob("*"))
        if path.suffix in suffixes
        and path.name != own
        and forbidden.search(path.read_text(encoding="utf-8"))
    ]

    assert found == []
