from __future__ import annotations

import re

import pytest
from hypothesis import given

from tests.cli.forms import readers
from tests.cli.forms.made import findings, many
from trainyard.cli.findings import Findings, blocks, summary
from trainyard.cli.forms import markdown
from trainyard.diagnostics import Severity

_HEADING = ("heading_open", "inline", "heading_close")
_PARAGRAPH = ("paragraph_open", "inline", "paragraph_close")


@given(findings)
def test_text_of_profiles_is_in_blocks_of_code_only(found: Findings) -> None:
    """A heading, the totals, then each block of findings, errors first."""
    tokens = readers.markdown(markdown.report("validate", found))
    head = [token for token in tokens if token.type != "fence"]
    inline = [child.type for token in head for child in token.children or ()]
    expected = sorted(blocks(found, colour=False), key=lambda block: block.severity != "error")

    assert [token.type for token in head] == [*_HEADING, *_PARAGRAPH]
    assert [token.content for token in head if token.type == "inline"] == [
        "trainyard validate",
        f"**{summary(found)}**",
    ]
    assert set(inline) == {"text", "strong_open", "strong_close"}
    assert [token.content for token in tokens if token.type == "fence"] == [
        f"{block.text}\n" for block in expected
    ]


@pytest.mark.parametrize("severity", Severity)
def test_comment_has_a_limit_and_counts_what_is_beyond_it(severity: Severity) -> None:
    """Whole blocks only; what is shown and what is counted is all there is."""
    comment = markdown.report("validate", many(50, severity, length=3000))
    shown = comment.count(f"{severity}[")
    (rest,) = re.findall(
        r"^Too long for a comment, shown by `trainyard validate`: (\d+) ", comment, re.MULTILINE
    )

    assert 50_000 < len(comment.encode()) <= 60_000
    assert comment.count("```") == 2 * shown
    assert shown + int(rest) == 50
    assert f"**50 {severity}s in 1 profile**" in comment


@given(findings)
def test_comment_never_exceeds_its_limit(found: Findings) -> None:
    """GitHub refuses a longer one."""
    assert len(markdown.report("validate", found).encode()) <= markdown.LIMIT
