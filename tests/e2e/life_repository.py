"""The repository of an administrator who follows a how-to, and the commands of the page."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.pages import ROOT, blocks, done
from trainyard.generation.generate import generate
from trainyard_rehearsal.checks.git_delivery import Tree
from trainyard_rehearsal.publication import sample_jobs, synced

HOW_TO = ROOT / "docs" / "how-to"
_COMPONENTS = "../profiles/components"


def commands(page: Path) -> list[str]:
    """Return the commands of a page that need a cluster, in their order."""
    shown = "".join(body for _, body in blocks(page, "console") if body.startswith("$ "))
    return re.split(r"^\$ ", shown, flags=re.MULTILINE)[1:]


def command(page: Path, words: str) -> str:
    """Return the one command of a page that has some words."""
    (found,) = (each for each in commands(page) if words in each)
    return found


def repository_of(folder: Path, added: Mapping[str, str]) -> Path:
    """Return this repository's profiles and their tree, as a repository that Argo CD can fetch.

    Args:
        folder: that does not exist.
        added: text at the end of profiles, by their paths.
    """
    shutil.copytree(ROOT / "profiles", folder / "profiles")
    for path, text in added.items():
        (folder / "profiles" / path).parent.mkdir(exist_ok=True)
        with (folder / "profiles" / path).open("a", encoding="utf-8") as profile:
            profile.write(text)
    settings = folder / "profiles" / "trainyard.yaml"
    address = f"repository: {folder.as_uri()}"
    text = re.sub(r"^repository: .*", address, settings.read_text("utf-8"), flags=re.MULTILINE)
    settings.write_text(text, "utf-8")
    done(folder, "git", "init", "--quiet", "--initial-branch", "main")
    done(folder, "trainyard", "generate")
    done(folder, "git", "add", "--all")
    done(folder, "git", "commit", "--quiet", "--message", "The platform")
    return folder


def tree_of(repository: Path, cluster: str) -> Tree | None:
    """Return a cluster's tree; None for one that is given up."""
    generation = generate(repository / "profiles", _COMPONENTS, (cluster,))
    platform = generation.checked.platform
    assert platform, generation.diagnostics
    for site in platform.sites:
        if site.name == cluster:
            manifests = generation.manifests[cluster]
            return Tree(site, {}, synced(site, manifests), sample_jobs(site, manifests, ""))
    return None
