"""Pages of the documentation: what they show, and running what they say one can type."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

ROOT = Path(__file__).resolve().parents[1]
DOCS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("examples/*/README.md")]
)
HOW_TOS = sorted((ROOT / "docs" / "how-to").glob("*.md"))
USERS = ROOT / "docs" / "users"
TUTORIAL = ROOT / "docs" / "tutorial.md"
BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_SAVED = re.compile(rf"(?:as `([\w.-]+)`[^`\n]*:\n\n)?{BLOCK.pattern[1:]}", BLOCK.flags)
_NONE: Mapping[str, str] = MappingProxyType({})
_BETWEEN = "--- next block ---"


def blocks(path: Path, language: str = "") -> list[tuple[str, str]]:
    """Return language and text of a page's blocks, or of those of one language."""
    found: list[tuple[str, str]] = BLOCK.findall(path.read_text("utf-8"))
    return [block for block in found if language in ("", block[0])]


def shell_blocks(path: Path) -> list[str]:
    """Return what a page says that one can type."""
    return [body for _, body in blocks(path, "shell")]


def saved(path: Path) -> dict[str, str]:
    """Return the files that a page says one saves, by name; the words ``as `NAME`:`` are above."""
    return {name: body for name, _, body in _SAVED.findall(path.read_text("utf-8")) if name}


def typed(path: Path) -> list[str]:
    """Return the shell blocks of a page; each first writes the files that the page shows above."""
    found, files = [], ""
    for name, language, body in _SAVED.findall(path.read_text("utf-8")):
        if name:
            files += f"cat > {name} <<'END OF FILE'\n{body}END OF FILE\n"
        elif language == "shell":
            found.append(files + _with_findings(body))
            files = ""
    return found


@cache
def _programs() -> Path:
    """Return a folder with this checkout's `trainyard`, and `python`."""
    folder = Path(tempfile.mkdtemp(prefix="trainyard-"))
    atexit.register(shutil.rmtree, folder)
    program = folder / "trainyard"
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH="{ROOT}/generator" exec "{sys.executable}" -m trainyard "$@"\n',
        "utf-8",
    )
    program.chmod(0o755)
    (folder / "python").symlink_to(sys.executable)
    return folder


def _environment() -> dict[str, str]:
    """Return an environment with this checkout's `trainyard`, this machine's tools, and a Git
    without settings."""
    who = {
        f"GIT_{role}_{key}": "admin@example.com"
        for role in ("AUTHOR", "COMMITTER")
        for key in ("NAME", "EMAIL")
    }
    git = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **who}
    return {
        **os.environ,
        **git,
        "PATH": f"{_programs()}:{os.environ['PATH']}",
        "NO_COLOR": "1",
        "LC_ALL": "C",
    }


def call(folder: Path, *args: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; what it prints is in `stdout`, in its order.

    Args:
        folder: in which it runs.
        args: the command.
        variables: of its environment; ``PATH`` is searched before the usual one.
    """
    usual = _environment()
    if "PATH" in variables:
        variables = {**variables, "PATH": f"{variables['PATH']}:{usual['PATH']}"}
    return subprocess.run(
        args,
        cwd=folder,
        env={**usual, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def done(folder: Path, *args: str, **variables: str) -> str:
    """Run a command that must end with 0, and return what it prints."""
    ended = call(folder, *args, **variables)
    assert ended.returncode == 0, ended.stdout
    return ended.stdout


def type_page(
    page: Path,
    folder: Path,
    variables: Mapping[str, str] = _NONE,
    wanted: Callable[[str], bool] = bool,
) -> None:
    """Run the shell blocks of a page, and look in what each prints for the console block below
    it.

    Args:
        page: whose blocks.
        folder: in which they run.
        variables: of their environment, as of `call`.
        wanted: whether a block is run; all are.
    """
    assert shutil.which("bash")
    scripts = (each if wanted(each) else "true" for each in typed(page))
    script = f"\necho '{_BETWEEN}'\n".join(scripts)
    printed = done(folder, "bash", "-c", f"set -eu\n{script}", **variables)
    outputs = zip(typed(page), printed.split(f"{_BETWEEN}\n"), strict=True)
    run, output = False, ""
    for language, body in blocks(page):
        if language == "shell":
            block, output = next(outputs)
            run = wanted(block)
        elif run and language == "console" and not body.lstrip().startswith("$ "):
            missing = list(_missing(body, output))
            assert not missing, f"{missing} is not in\n{output}"


def _missing(shown: str, output: str) -> Iterator[str]:
    """Yield the lines of a block that are not printed in their order.

    A line is printed as it is shown, or has more where dots begin it, end it, or are between two
    words. A line of dots alone leaves lines out.
    """
    printed = iter(line.rstrip() for line in output.splitlines())
    for line in (each.rstrip() for each in shown.splitlines()):
        if line.strip() != "..." and not any(map(_pattern(line).fullmatch, printed)):
            yield line


def _pattern(line: str) -> re.Pattern[str]:
    """Return the pattern of a line as it is shown."""
    text = re.escape(f" {line} ").replace(re.escape(" ... "), ".*")
    return re.compile(text.removeprefix("\\ ").removesuffix("\\ "))


def _with_findings(block: str) -> str:
    """Make `! command` mean the exit code of findings and no other; `set -e` alone takes no notice
    of it."""
    text = re.sub(
        r"^ *! (.*)$", r"code=0; \1 || code=$?; test $code -eq 1", block, flags=re.MULTILINE
    )
    return re.sub(r"^   ", "", text, flags=re.MULTILINE) if text.startswith("   ") else text
