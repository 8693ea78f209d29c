"""Everyday pull requests on this repository, each of one kind that an admin or a team opens."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

Edit = Callable[[Path], None]
"""Changes the profiles in a folder."""

_TEAM = """\
contact: {name}@example.com
costCenter: RES-3
groups: {{user: [{name}]}}
runtimes: [intel-mpi-one]
cohort: research
quota:
  lab: {{cpu: {{nodes: 0, borrow: 1}}}}
"""


def _set(file: str, old: str, new: str) -> Edit:
    def edit(profiles: Path) -> None:
        path = profiles / file
        text = path.read_text(encoding="utf-8")
        assert old in text, (file, old)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return edit


def _add(name: str) -> Edit:
    def edit(profiles: Path) -> None:
        (profiles / f"teams/{name}.yaml").write_text(_TEAM.format(name=name), encoding="utf-8")

    return edit


def _next_version(runtime: str) -> Edit:
    def edit(profiles: Path) -> None:
        path = profiles / f"runtimes/{runtime}.yaml"
        text, count = re.subn(r"(?m)^version: \d+", "version: 9", path.read_text(encoding="utf-8"))
        assert count == 1
        path.write_text(text, encoding="utf-8")

    return edit


PULL_REQUESTS: Mapping[str, Edit] = {
    "viewers of nlp": _set("teams/nlp.yaml", "[nlp-guests]", "[nlp-guests, nlp-more]"),
    "viewers of vision": _set("teams/vision.yaml", "[vision-guests]", "[vision-guests, more]"),
    "viewers of biology": _set(
        "teams/biology.yaml", "user: [biology]", "user: [biology], viewer: [biology-guests]"
    ),
    "viewers of medical": _set(
        "teams/medical.yaml", "user: [medical]", "user: [medical], viewer: [medical-guests]"
    ),
    "quota of nlp": _set("teams/nlp.yaml", "nodes: 8, borrow: 8", "nodes: 8, borrow: 10"),
    "quota of science": _set("teams/science.yaml", "borrow: 4", "borrow: 6"),
    "quota of robotics": _set("teams/robotics.yaml", "cores: 78", "cores: 76"),
    "quota of biology": _set("teams/biology.yaml", "cores: 48", "cores: 46"),
    "storage of nlp": _set("teams/nlp.yaml", "scratch: 20Ti", "scratch: 30Ti"),
    "account of speech": _set(
        "teams/speech.yaml", "runtimes:", "serviceAccounts: {ci: {role: user}}\nruntimes:"
    ),
    "namespace of medical": _set(
        "teams/medical.yaml", "compliance:", "spaces: {eval: {}}\ncompliance:"
    ),
    "namespace of science": _set("teams/science.yaml", "contact:", "spaces: {eval: {}}\ncontact:"),
    "egress of lab": _set(
        "clusters/lab.yaml",
        "egress:\n",
        "egress:\n  mirror: {to: [203.0.113.128/28], ports: [443]}\n",
    ),
    "nodes of lab": _set("clusters/lab.yaml", "cpu-epyc-phi, nodes: 3", "cpu-epyc-phi, nodes: 4"),
    "priority of lab": _set("clusters/lab.yaml", "interactive: 800", "interactive: 850"),
    "version of finetune": _next_version("finetune"),
    "version of grpo": _next_version("grpo"),
    "version of torchrun": _next_version("torchrun"),
    "team audio": _add("audio"),
    "team radio": _add("radio"),
    "team rain": _add("rain"),
}
