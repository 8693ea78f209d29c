from __future__ import annotations

from hypothesis import given

from tests.cli.forms.made import findings, many
from tests.cli.forms.readers import commands
from trainyard.cli.console import printable
from trainyard.cli.findings import Findings
from trainyard.cli.forms import github
from trainyard.diagnostics import Severity


@given(findings)
def test_runner_reads_each_annotation_as_it_was_meant(found: Findings) -> None:
    """The first ten of each severity, each at its place, with its rule and message."""
    read = commands(github.report("validate", found))
    ordered = found.ordered()
    expected = [
        (each.severity, place.file, str(place.span.line), each.rule, printable(each.message))
        for severity in Severity
        for each, place in [pair for pair in ordered if pair[0].severity is severity][:10]
    ]

    assert [
        (
            command.name,
            command.properties["file"],
            command.properties["line"],
            command.properties["title"],
            command.data.partition("\n")[0],
        )
        for command in read
    ] == expected
    assert all(set(command.properties) == set(_PROPERTIES) for command in read)


_PROPERTIES = ("file", "line", "endLine", "col", "endColumn", "title")


@given(findings)
def test_last_line_is_no_command_and_counts_all(found: Findings) -> None:
    """A line that the job's log shows."""
    last = github.report("validate", found).split("\n")[-1]

    assert commands(last) == []
    assert last.startswith("trainyard validate: ")


def test_what_is_beyond_ten_is_counted() -> None:
    """GitHub drops the eleventh without a message."""
    lines = github.report("verify", many(12, Severity.WARNING)).split("\n")

    assert len(lines) == 11
    assert lines[-1] == (
        "trainyard verify: 12 warnings in 1 profile; not annotated, as GitHub takes 10 of each: "
        "2 warnings"
    )
