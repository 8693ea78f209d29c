"""The house rules that a machine can check."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from trainyard.render.catalog import CATALOG, DELIVERY
from trainyard.render.site import templates_folder
from trainyard.render.unit import HEALTH_CHECKS
from trainyard.schema.manifests import schema_folder
from trainyard.workflows.generate import generate

REPOSITORY = Path(__file__).resolve().parents[1]
MODULES = sorted(REPOSITORY.joinpath("generator").rglob("*.py"))
FILE_LINES, FUNCTION_LINES = 350, 50


@pytest.mark.parametrize(
    "module", MODULES, ids=lambda path: path.relative_to(REPOSITORY).as_posix()
)
def test_module_keeps_the_budget(module: Path) -> None:
    """A file that a newcomer can read in one go, functions that fit a screen."""
    text = module.read_text(encoding="utf-8")
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    sizes = {
        function.name: (function.end_lineno or 0) - function.lineno + 1 for function in functions
    }

    assert text.count("\n") <= FILE_LINES
    assert {name: size for name, size in sizes.items() if size > FUNCTION_LINES} == {}


@pytest.mark.parametrize(
    "module", MODULES, ids=lambda path: path.relative_to(REPOSITORY).as_posix()
)
def test_module_says_what_it_is_for(module: Path) -> None:
    """Every module begins with a sentence, and none is called after nothing."""
    assert ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))
    assert not re.search(r"util|helper|manager|misc|common", module.stem)


def test_templates_and_catalog_are_the_same_set() -> None:
    """A template that nobody renders, or an entry without a template, is a mistake."""
    root = templates_folder()
    templates = {
        path.relative_to(root).as_posix().removesuffix(".yaml.j2")
        for path in root.rglob("*.yaml.j2")
    }
    entries = [*(entry.template for entry in CATALOG), *(entry.template for entry in DELIVERY)]

    assert len(entries) == len(set(entries))
    assert templates == {*entries, *HEALTH_CHECKS}


def test_every_entry_is_rendered_by_some_cluster() -> None:
    """What no profile of this repository renders, nobody has looked at."""
    platform = generate(REPOSITORY / "profiles", "../profiles/components").checked.platform
    assert platform is not None
    rendered = {
        entry.template
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
