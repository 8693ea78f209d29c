"""Drafts of clusters as sites have them: read by people before they were committed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from tests.adoption.sites import SITES
from tests.cli.calls import Ended
from tests.cli.fixtures import here, trainyard  # noqa: F401
from trainyard.schema.published import document_schema

Call = Callable[..., Ended]
GOLDEN = Path(__file__).parent / "drafts"


def drafted(site: str, trainyard: Call, here: Path) -> Ended:  # noqa: F811
    """Import the dump of a site into an empty folder."""
    dump = {"apiVersion": "v1", "kind": "List", "items": SITES[site]()}
    (here / "dump.json").write_text(json.dumps(dump), "utf-8")
    return trainyard("import", "dump.json", "--cluster", "site")


@pytest.mark.parametrize("site", SITES)
def test_drafts_are_those_that_were_read(
    site: str,
    trainyard: Call,  # noqa: F811
    here: Path,  # noqa: F811
    *,
    update_golden: bool,
) -> None:
    ended = drafted(site, trainyard, here)
    assert ended.code == 1, ended
    files = [*here.glob("profiles/*/*.yaml"), here / "adoption/site.md"]
    text = "".join(
        f"===== {path.relative_to(here)}\n{path.read_text('utf-8')}" for path in sorted(files)
    )
    golden = GOLDEN / f"{site}.txt"
    if update_golden:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")
    written = json.loads((here / "adoption/site.json").read_text("utf-8"))
    Draft7Validator(document_schema("import")).validate(written)
