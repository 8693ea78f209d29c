"""The files of a release of a repository."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.derivation.derive import plurals_text
from trainyard.profiles.inherited import EXTENDS
from trainyard.profiles.releases import PLURALS, RELEASE
from trainyard.yaml_io.emitter import emit

_HEADER = """\
A release of this repository: what differs from the one that it extends.
Written by `trainyard release new`; its digest is in profiles/trainyard.yaml.
tested: none; schemas: a tree fits its schemas; rehearsed: its controllers were run together."""
_STATED = ("versions", "sdk", "features", "groupsPodsets", "queueLimits")
"""Fields that a release of a repository states where they differ, in this order."""


@dataclass(frozen=True, slots=True)
class Made:
    """A release that was made.

    Args:
        base: name of the release that it extends.
        fields: all of them.
        stated: those that differ from the base.
        others: content of the other files by path below the folder.
        changed: paths of the schemas that differ, below ``schemas/``.
        inherited: kinds whose schemas are those of the base.
        remarks: what is not known.
        tested: how far it was tried, until ``date``.
    """

    name: str
    base: str
    fields: Mapping[str, Any]
    stated: Mapping[str, Any]
    others: Mapping[str, bytes]
    changed: tuple[str, ...]
    inherited: tuple[str, ...]
    remarks: tuple[str, ...]
    date: str
    tested: str = "none"

    @property
    def missing(self) -> list[str]:
        """Kinds of operators that the cluster of the facts lacks."""
        source = json.loads(self.others["source.json"])
        ours = ("audit.k8s.io", "config.kueue.x-k8s.io", "kubelet.config.k8s.io")
        groups = {each: each.partition(".")[2] for each in source["inherited"]}
        return [
            each
            for each, group in groups.items()
            if "crds" in source and "." in group and not group.endswith((".k8s.io", *ours))
        ]

    def files(self) -> dict[str, bytes]:
        """Return the content of each file by path below the folder."""
        head = {"tested": self.tested, "date": self.date, EXTENDS: self.base}
        return {RELEASE: emit({**head, **self.stated}, _HEADER), **self.others}


def other_files(
    schemas: Mapping[str, bytes], plurals: Mapping[str, str], record: Mapping[str, Any]
) -> dict[str, bytes]:
    """Return the files of a release beside its own, by path below the folder.

    Args:
        schemas: by path below ``schemas/``, those that differ from the base's.
        plurals: of the kinds that the base lacks.
        record: where the schemas come from; the content of ``go.mod`` and ``go.sum`` by name.
    """
    files = {f"schemas/{path}": body for path, body in sorted(schemas.items())}
    if plurals:
        files[PLURALS] = plurals_text(plurals)
    files |= {name: text.encode() for name, text in record.items() if name.startswith("go.")}
    source = {name: value for name, value in record.items() if not name.startswith("go.")}
    files["source.json"] = (json.dumps(source, indent=2, sort_keys=True) + "\n").encode()
    return files


def differing(base: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that differ; of a mapping the keys that do."""
    stated: dict[str, Any] = {}
    for key in _STATED:
        if fields[key] == base[key]:
            continue
        if key == "versions":
            old = base[key]
            stated[key] = {name: each for name, each in fields[key].items() if old[name] != each}
        else:
            stated[key] = sorted(fields[key]) if key == "features" else fields[key]
    return stated
