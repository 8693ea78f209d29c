"""Peers: the least that others do for the same teams, measured in the same run.

A ratio to a peer is the same on a slow machine, so that it can be compared with a recorded one.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PLAIN = """\
import sys
from pathlib import Path
import jinja2, yaml
root, tree, templates = map(Path, sys.argv[1:])
env = jinja2.Environment()
texts = [env.from_string(file.read_text()) for file in sorted(templates.iterdir())]
for file in sorted((root / "teams").iterdir()):
    team = yaml.load(file.read_text(), Loader=yaml.CSafeLoader)
    folder = tree / file.stem
    folder.mkdir(parents=True)
    for number, text in enumerate(texts):
        (folder / f"{number}.yaml").write_text(text.render(name=file.stem, **team))
"""
"""A script that puts each team into each template, and checks nothing."""

_KUSTOMIZATION = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: {name}
namePrefix: {name}-
resources: [../base]
"""


def write_templates(folder: Path, unit: Path) -> int:
    """Write the objects of one team of a tree as templates of a plain script; return how many."""
    folder.mkdir()
    files = sorted(unit.glob("*.yaml"))
    for file in files:
        text = file.read_text().replace(unit.name, "{{ name }}")
        (folder / file.name).write_text(text)
    return len(files)


def plain(root: Path, tree: Path, templates: Path) -> list[str]:
    """Return the command of the plain script."""
    return [sys.executable, "-c", PLAIN, str(root), str(tree), str(templates)]


def write_stamps(folder: Path, unit: Path, teams: int) -> list[Path]:
    """Write a kustomization for each of some teams over one base; return their folders."""
    base = folder / "base"
    base.mkdir(parents=True)
    for file in unit.iterdir():
        (base / file.name).write_bytes(file.read_bytes())
    stamps = [folder / f"stamp-{number}" for number in range(teams)]
    for each in stamps:
        each.mkdir()
        (each / "kustomization.yaml").write_text(_KUSTOMIZATION.format(name=each.name))
    return stamps


def stamp(kustomize: Path, stamps: list[Path]) -> None:
    """Build each kustomization, one after the other."""
    for each in stamps:
        subprocess.run([kustomize, "build", each], check=True, capture_output=True)
