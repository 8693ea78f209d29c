from __future__ import annotations

from hypothesis import given

from tests.cli.forms import readers
from tests.cli.forms.made import READ, findings, many
from trainyard.cli.console import printable
from trainyard.cli.findings import Findings, alone
from trainyard.cli.forms import junit
from trainyard.diagnostics import Severity, has_errors


@given(findings)
def test_each_finding_is_a_case_with_its_lines(found: Findings) -> None:
    """An error fails its case, a warning is the output of a passed one."""
    cases = list(readers.junit(junit.report("validate", found)))
    ordered = found.ordered()

    for case, (each, place) in zip(cases, ordered, strict=False):
        tag = "failure" if each.severity is Severity.ERROR else "system-out"
        assert case.get("classname") == each.rule
        assert str(case.get("name")).startswith(printable(f"{place} {each.message}"))
        assert case.findtext(tag) == alone(each, place, found.places)
    assert len(cases) - len(ordered) in {0, 1}


@given(findings)
def test_a_case_fails_exactly_when_the_command_does(found: Findings) -> None:
    """The job and its report agree."""
    suite = readers.junit(junit.report("validate", found))

    assert bool(suite.findall("testcase/failure")) is has_errors(found.diagnostics)


def test_profile_without_error_is_a_passed_case() -> None:
    """A report without a case would be shown as no report."""
    suite = readers.junit(junit.report("validate", many(0, Severity.ERROR)))

    assert [(case.get("name"), len(case)) for case in suite] == [(READ, 0)]
