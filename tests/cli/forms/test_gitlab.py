from __future__ import annotations

import dataclasses

from hypothesis import given

from tests.cli.forms import readers
from tests.cli.forms.made import findings
from trainyard.cli.console import printable
from trainyard.cli.findings import Findings
from trainyard.cli.forms import gitlab
from trainyard.cli.places import Places


@given(findings)
def test_gitlab_shows_each_finding(found: Findings) -> None:
    """Rule, place and message; no two issues have one fingerprint."""
    issues = readers.gitlab(gitlab.report("validate", found))

    assert [
        (issue["check_name"], issue["location"]["path"], issue["location"]["lines"]["begin"])
        for issue in issues
    ] == [(each.rule, place.file, place.span.line) for each, place in found.ordered()]
    for issue, (each, _) in zip(issues, found.ordered(), strict=True):
        assert issue["description"].startswith(printable(each.message))
        assert issue["description"].isprintable()


@given(findings)
def test_fingerprints_stay_when_lines_move(found: Findings) -> None:
    """GitLab would show the same finding as fixed and as new."""
    moved = {
        file: dataclasses.replace(
            source,
            content=b"# new\n" + source.content,
            marks={
                path: dataclasses.replace(mark, line=mark.line + 1)
                for path, mark in source.marks.items()
            },
        )
        for file, source in found.places.sources.items()
    }
    later = dataclasses.replace(found, places=Places(moved, {}))
    before, after = (
        {issue["fingerprint"] for issue in readers.gitlab(gitlab.report("validate", each))}
        for each in (found, later)
    )

    assert before == after
