"""The pages for users: what needs no cluster is run here, the rest in `tests/e2e/`.

Convention: a page shows a file below a line that ends with ``as `NAME`:``, and a shell block after
it uses the file. A shell block calls `kubectl` or the SDK, or it is run here.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.pages import ROOT, USERS, blocks, call, done, saved, shell_blocks, type_page

PAGES = sorted(USERS.glob("*.md"))
_PAGES = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
_CLUSTER = re.compile(r"\bkubectl\b|\bpython notebook\.py\b")
_EMITTED = re.compile(r"- name: ([A-Z][A-Z0-9_]+)$", re.MULTILINE)
_SCRIPTS = {"EXPORT_COMMAND", "SSH_CRYPTO", "TRAINYARD_JOB"}
"""Variables that only the platform's scripts read."""
_VARIABLE = re.compile(r"`([A-Z][A-Z0-9_]+)(\*?)`")


def needs_no_cluster(block: str) -> bool:
    """Return whether a block calls neither `kubectl` nor the SDK."""
    return not _CLUSTER.search(block)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of the platform's repository, with each file that the pages show."""
    for part in ("profiles", "overlays"):
        shutil.copytree(ROOT / part, tmp_path / part)
    for page in PAGES:
        for name, body in saved(page).items():
            (tmp_path / name).write_text(body, "utf-8")
    return tmp_path


@_PAGES
def test_every_block_is_run_or_is_a_message(page: Path) -> None:
    """A file is used by a later command, and nothing else is shown but messages."""
    shown = {body for language, body in blocks(page) if language in {"yaml", "python"}}
    commands = "".join(shell_blocks(page))

    assert shown == set(saved(page).values())
    assert not [name for name in saved(page) if name not in commands]
    assert {language for language, _ in blocks(page)} <= {
        *("console", "python", "shell", "text", "yaml")
    }


def test_files_of_all_pages_have_names_of_their_own() -> None:
    """The pages are followed in one folder."""
    names = [name for page in PAGES for name in saved(page)]
    assert len(names) == len(set(names))


@pytest.mark.thorough
@_PAGES
def test_blocks_without_a_cluster_run(page: Path, clone: Path) -> None:
    """What a page says one can type does what it shows."""
    type_page(page, clone, wanted=needs_no_cluster)


@pytest.mark.thorough
def test_jobs_of_the_pages_start(clone: Path) -> None:
    """`trainyard fit` admits each job that a page shows."""
    for page in PAGES:
        for name in saved(page):
            if name.endswith(".yaml"):
                command = ("trainyard", "fit", name, "--team", "nlp", "--cluster", "prod-east")
                assert ": admitted" in done(clone, *command)


@pytest.mark.thorough
def test_counting_goes_on_from_its_checkpoint(clone: Path) -> None:
    """It counts each step once, however often it is stopped."""
    for _ in range(2):
        stopped = call(
            clone,
            *("timeout", "--preserve-status", "--signal", "TERM", "2"),
            *("python", "counting.py", "."),
        )
        assert stopped.returncode == 1, stopped.stdout
    last = done(clone, "python", "counting.py", ".")
    assert "starts at step 0" not in last
    assert last.endswith("finished at step 40\n")


def test_messages_of_the_runtimes_are_as_they_print_them() -> None:
    """Each line of a message that begins with `trainyard:` is in a script of a runtime."""
    scripts = "".join(
        path.read_text("utf-8")
        for path in ROOT.glob("overlays/prod-east/platform/clustertrainingruntime-*.yaml")
    )
    texts = [body for page in PAGES for _, body in blocks(page, "text")]
    ours = [line for body in texts for line in body.splitlines() if line.startswith("trainyard:")]

    assert len(ours) == 2
    assert not [line for line in ours if line not in scripts]


def test_performance_names_every_variable_of_the_runtimes() -> None:
    """The table has what the runtimes of this repository set, and only what some runtime may."""
    text = (USERS / "performance.md").read_text("utf-8")
    table = text.partition("The runtime sets these.")[2].partition("These are refused")[0]
    named = {name for row in table.split("\n|") for name in _VARIABLE.findall(row.split("|")[0])}
    families = tuple(name for name, star in named if star)
    runtimes = ROOT.glob("overlays/*/platform/clustertrainingruntime-*.yaml")
    emitted = {each for path in runtimes for each in _EMITTED.findall(path.read_text("utf-8"))}
    code = (ROOT / "generator/trainyard/render/environment.py").read_text("utf-8")

    names = {name for name, star in named if not star}
    assert {each for each in emitted - _SCRIPTS if not each.startswith(families)} <= names
    assert not [name for name, _ in named if f'"{name}' not in code]
