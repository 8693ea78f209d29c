"""The page from each requirement to its evidence, from docs/requirements.yaml."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docs.glossary import BLOCK
from docs.markdown import anchor, cell
from trainyard.yaml_io.reader import read

FOLDER = Path(__file__).parent
DATA = FOLDER / "requirements.yaml"
STATES = {
    "done": "It works, and the evidence shows where.",
    "partly": "A part works, and the answer states what is missing. No work on it is planned if the"
    " answer names none.",
    "not yet": "Nothing meets it, and the answer names the work that will.",
    "left out": "Trainyard does not do it, and the answer states why.",
}
WORKS = {
    "users": "Jobs as people write them, samples that train, pages for users, and converters from"
    " other platforms.",
    "observability": "Metrics, alerts with runbooks, dashboards, logs and cost.",
}


@dataclass(frozen=True, slots=True)
class Family:
    """Requirements of one form in one document.

    Args:
        title: what they are.
        origin: the document.
        ids: what each asks for, by its id.
        own: the document has no such ids, so these are ours.
    """

    title: str
    origin: str
    ids: Mapping[str, str]
    own: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to some requirements.

    Args:
        ids: what it answers.
        state: how far it holds, of `STATES`.
        text: its sentences.
        missing: what is missing of an answer that holds in part.
        work: what brings that, of `WORKS`.
        files: paths from the root of the repository; `*` matches any part of a name.
        tests: path and name of each.
        rules: their ids.
        commands: as they are typed.
        rehearsal: lines that a rehearsal prints.
        pages: below docs/, with the anchor of a heading.
    """

    ids: Sequence[str]
    state: str
    text: Sequence[str]
    missing: str = ""
    work: str = ""
    files: Sequence[str] = ()
    tests: Sequence[str] = ()
    rules: Sequence[str] = ()
    commands: Sequence[str] = ()
    rehearsal: Sequence[str] = ()
    pages: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Requirements:
    """All requirements, and the answers by the title of their topic."""

    families: Sequence[Family]
    topics: Mapping[str, Sequence[Answer]]

    def answers(self) -> Iterator[Answer]:
        """Yield every answer."""
        for each in self.topics.values():
            yield from each


def load() -> Requirements:
    """Read docs/requirements.yaml.

    Raises:
        ValueError: The file is not plain YAML.
        TypeError: An entry has a field that is unknown, or lacks one.

    """
    source, found = read(DATA.name, DATA.read_bytes())
    if found:
        raise ValueError(str(found[0]))
    topics = {
        topic["title"]: [Answer(**answer) for answer in topic["answers"]]
        for topic in source.value["topics"]
    }
    return Requirements([Family(**each) for each in source.value["families"]], topics)


def requirements() -> Iterator[str]:
    """Yield the lines of the page."""
    data = load()
    yield from (
        "# Requirements",
        "",
        "Trainyard was created from four documents and a brief.",
        "They are a feature request, a clarification, an architecture and a specification.",
        "None of them is in this repository.",
        "This page lists each of their ids, with a title in our own words and an answer.",
    )
    yield from _counts(data)
    yield from ("", "| state | meaning |", "|---|---|")
    yield from (f"| {state} | {meaning} |" for state, meaning in STATES.items())
    yield from ("", "## Coming work", "")
    yield from (f"- **{work}**: {content}" for work, content in WORKS.items())
    titles = {id_: title for family in data.families for id_, title in family.ids.items()}
    for topic, answers in data.topics.items():
        yield from ("", f"## {topic}", "", "| requirement | state | answer |", "|---|---|---|")
        yield from (_row(answer, titles) for answer in answers)


def _counts(data: Requirements) -> Iterator[str]:
    """Yield the table of how many ids of each family have which state."""
    states = {id_: answer.state for answer in data.answers() for id_ in answer.ids}
    yield from ("", "## In numbers", "")
    yield from (f"| ids | {' | '.join(STATES)} | all |", f"|{'---|' * 6}")
    yield f"| all | {_numbers(Counter(states.values()))} |"
    for family in data.families:
        number = Counter(states[id_] for id_ in family.ids)
        yield f"| {_range(family)} | {_numbers(number)} |"
    yield from ("", "\\* These ids are ours: the document has other numbers, or none.")
    yield "The architecture also refers to requirements R2 to R13, which no document defines."


def _range(family: Family) -> str:
    first, *_, last = family.ids
    mark = " \\*" if family.own else ""
    return f"`{first}` to `{last}`{mark}: {cell(family.title)} ({family.origin})"


def _numbers(number: Counter[str]) -> str:
    counts = [*(number[state] for state in STATES), number.total()]
    return " | ".join(str(count) for count in counts)


def _row(answer: Answer, titles: Mapping[str, str]) -> str:
    ids = "<br>".join(f"`{id_}` {cell(titles[id_])}" for id_ in answer.ids)
    parts = [cell(" ".join(answer.text))]
    if answer.missing:
        parts.append(f"*Missing*: {cell(answer.missing)}")
    if answer.work:
        parts.append(f"*Coming work*: [{answer.work}](#coming-work).")
    if evidence := ", ".join(_evidence(answer)):
        label = "Evidence" if answer.state in {"done", "partly"} else "See"
        parts.append(f"*{label}*: {evidence}")
    return f"| {ids} | {answer.state} | {'<br>'.join(parts)} |"


def _evidence(answer: Answer) -> Iterator[str]:
    """Yield each piece of evidence in the form of its kind."""
    yield from (f"[{cell(title(page))}]({page})" for page in answer.pages)
    for rule in answer.rules:
        yield f"[`{rule}`](reference/rules/{rule.partition('/')[0]}.md#{anchor(rule)})"
    yield from (f"`{command}`" for command in answer.commands)
    for line in answer.rehearsal:
        yield f"[rehearsal: {line}](reference/rehearsal.md)"
    yield from (f"`{path}`" for path in (*answer.files, *answer.tests))


def title(page: str) -> str:
    """Return the heading that a page below docs/ has at an anchor, or its first heading.

    Raises:
        ValueError: No heading has the anchor.

    """
    path, _, place = page.partition("#")
    text = BLOCK.sub("", (FOLDER / path).read_text("utf-8"))
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        if place in ("", anchor(heading)):
            return str(heading)
    raise ValueError(f"{path} has no heading with the anchor `{place}`")
