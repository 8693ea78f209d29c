"""Peers: what others take to stamp the same objects for the same teams, measured in the same run.

None of them checks anything. A ratio to a peer says more than seconds, which depend on the machine.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

PLAIN = "plain Jinja2 script"
_NAME = "team-0000"
"""Of the team whose objects are stamped."""

_SCRIPT = """\
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
_CDK8S = """\
const {App, Chart, ApiObject} = require("cdk8s");
const fs = require("fs");
const [objects, teams, outdir] = process.argv.slice(2);
const texts = JSON.parse(fs.readFileSync(objects)).map(each => JSON.stringify(each));
const app = new App({outdir});
for (const team of JSON.parse(fs.readFileSync(teams))) {
  const chart = new Chart(app, team);
  texts.forEach((text, number) =>
    new ApiObject(chart, `o${number}`, JSON.parse(text.replaceAll("team-0000", team))));
}
app.synth();
"""
_KUSTOMIZATION = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: {name}
namePrefix: {name}-
resources: [../base]
"""
_KAPITAN = """\
parameters:
  kapitan:
    compile:
      - {output_path: ., input_type: jinja2, input_paths: [templates]}
"""
_TARGET = """\
classes: [team]
parameters:
  name: {name}
  kapitan: {{vars: {{target: {name}}}}}
"""
_STAMPS = 20
"""Teams in one build of kustomize, which takes a minute for 200."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A command that stamps the objects of one team for all.

    Args:
        folder: in which it runs.
        command: it ends with ``{run}``, the folder that it writes into, which is a new one in each
            run.
    """

    name: str
    folder: Path
    command: tuple[str, ...]


def peers(top: Path, root: Path, kustomize: Path, installed: Path) -> Iterator[Peer]:
    """Yield the peers that are installed, with all that they read written.

    Args:
        top: an empty folder.
        root: a platform with its tree.
        kustomize: the program.
        installed: folder of what `make peers` installs.
    """
    unit = root / "overlays/cluster-0/teams" / _NAME
    teams = [file.stem for file in sorted((root / "profiles/teams").iterdir())]
    texts = {file.name: file.read_text() for file in sorted(unit.glob("*.yaml"))}
    templates = _written(top / "templates", _as_jinja(texts, "name"))
    script = (sys.executable, "-c", _SCRIPT, str(root / "profiles"), "{run}", str(templates))
    yield Peer(PLAIN, top, script)
    yield _stamps(top / "stamps", texts, teams[:_STAMPS], kustomize)
    if (installed / "node_modules/cdk8s").exists() and (node := shutil.which("node")):
        yield _cdk8s(_written(top / "cdk8s", {}), texts, teams, node, installed)
    if (kapitan := installed / "venv/bin/kapitan").exists():
        yield _kapitan(top / "kapitan", texts, teams, kapitan)


def _stamps(folder: Path, texts: dict[str, str], teams: Sequence[str], kustomize: Path) -> Peer:
    """Write a kustomization for each team over one base, which one process builds."""
    _written(folder / "base", texts)
    for team in teams:
        _written(folder / team, {"kustomization.yaml": _KUSTOMIZATION.format(name=team)})
    _written(folder, {"kustomization.yaml": json.dumps({"resources": teams})})
    return Peer(
        f"kustomize, {len(teams)} teams",
        folder,
        (str(kustomize), "build", ".", "--output", "{run}"),
    )


def _cdk8s(
    folder: Path, texts: dict[str, str], teams: Sequence[str], node: str, installed: Path
) -> Peer:
    objects = [yaml.safe_load(text) for text in texts.values()]
    files = {"app.js": _CDK8S, "objects.json": json.dumps(objects), "teams.json": json.dumps(teams)}
    _written(folder, files)
    (folder / "node_modules").symlink_to(installed / "node_modules")
    return Peer("cdk8s", folder, (node, "app.js", "objects.json", "teams.json", "{run}"))


def _kapitan(folder: Path, texts: dict[str, str], teams: Sequence[str], kapitan: Path) -> Peer:
    _written(folder / "templates", _as_jinja(texts, "inventory.parameters.name"))
    _written(folder / "inventory/classes", {"team.yml": _KAPITAN})
    targets = {f"{team}.yml": _TARGET.format(name=team) for team in teams}
    _written(folder / "inventory/targets", targets)
    return Peer("Kapitan", folder, (str(kapitan), "compile", "--output-path", "{run}"))


def _as_jinja(texts: dict[str, str], variable: str) -> dict[str, str]:
    """Return objects of one team as templates; what has braces of its own stays as it is."""
    escaped = {name: text.replace("{{", "{{ '{{' }}") for name, text in texts.items()}
    return {name: text.replace(_NAME, f"{{{{ {variable} }}}}") for name, text in escaped.items()}


def _written(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder
