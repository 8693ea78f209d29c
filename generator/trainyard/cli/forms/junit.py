"""Findings as a JUnit report: an error is a failed case, a profile without error a passed one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from trainyard.cli.console import printable
from trainyard.cli.findings import Findings, alone
from trainyard.diagnostics import Diagnostic, Severity


def report(command: str, found: Findings) -> str:
    """Return one suite; a case fails exactly when the command does.

    A warning is the output of a passed case. Source of the form:
    yannh/kubeconform:fixtures/junit.xsd@v0.7.0.
    """
    cases = [*_found(found), *_passed(found)]
    totals = {
        "name": f"trainyard {command}",
        "tests": str(len(cases)),
        "failures": str(found.count(Severity.ERROR)),
    }
    root = Element("testsuites", totals)
    suite = SubElement(root, "testsuite", totals)
    suite.extend(cases)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}'


def _found(found: Findings) -> Iterator[Element]:
    """Yield a case for each finding; names differ, since viewers show equal ones once."""
    names: Counter[str] = Counter()
    for diagnostic, place in found.ordered():
        name = printable(f"{place} {diagnostic.message}")
        names[name] += 1
        again = f" ({names[name]})" if names[name] > 1 else ""
        yield _case(diagnostic, f"{name}{again}", alone(diagnostic, place, found.places))


def _case(diagnostic: Diagnostic, name: str, lines: str) -> Element:
    case = Element("testcase", classname=diagnostic.rule, name=name)
    if diagnostic.severity is Severity.ERROR:
        message = printable(diagnostic.message)
        SubElement(case, "failure", type=diagnostic.rule, message=message).text = lines
    else:
        SubElement(case, "system-out").text = lines
    return case


def _passed(found: Findings) -> Iterator[Element]:
    """Yield a case for each profile without an error, so that no report is empty."""
    ordered = found.ordered()
    failed = {place.file for problem, place in ordered if problem.severity is Severity.ERROR}
    for file in found.places.profiles:
        if file not in failed:
            yield Element("testcase", classname="profile", name=printable(file))
