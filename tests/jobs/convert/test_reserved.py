"""What a converted job must not mount or set is what the admission policies refuse."""

from __future__ import annotations

import re

from tests.cli.calls import REPOSITORY
from trainyard_jobs.convert.mpijob.volumes import FOLDERS, OURS

TEMPLATES = REPOSITORY / "templates" / "platform"


def policy(name: str) -> str:
    return (TEMPLATES / f"validating-admission-policy-trainjob-{name}.yaml.j2").read_text("utf-8")


def listed(text: str) -> set[str]:
    return set(re.findall(r"'([^']+)'", text))


def test_names_and_folders_are_those_of_the_policy() -> None:
    text = policy("limits")
    volumes = re.search(r"volume\.name in \[([^\]]+)\]", text)
    folders = re.search(r"!\[([^\]]+)\]\.exists\(path", text)

    assert volumes
    assert folders
    assert listed(volumes[1]) == OURS
    assert listed(folders[1]) == set(FOLDERS)
