"""Pages of figures as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.cli.console import printable
from trainyard.cli.tables.model import MARKDOWN, Block, Name, Page, Table
from trainyard.render.markdown import code
from trainyard.render.markdown import text as plain


def markdown(title: str, pages: Sequence[Page]) -> str:
    """Return all clusters, e.g. with the title ``Capacity``."""
    return "\n\n".join("\n".join(_page(title, page)) for page in pages)


def _page(title: str, page: Page) -> Iterator[str]:
    yield f"## {title} of {_shown(Name(page.cluster))}"
    for part in page.parts:
        yield from ("", f"### {part.title.capitalize()} {_shown(Name(part.name))}".rstrip())
        for block in (part.figures, *part.blocks):
            lines = [*_block(block)]
            yield from ("", *lines) if lines else ()
    yield from ("", f"{_shown(page.end)}.") if page.end else ()


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, str):
        yield from [f"{_shown(block[:1].upper() + block[1:])}."] if block else ()
    else:
        for item in block:
            yield f"{'  ' * item.depth}- {''.join(map(_shown, item.words))}"


def _table(table: Table) -> Iterator[str]:
    """Yield a table whose columns after the first are aligned to the right."""
    heads = table.shown(MARKDOWN)
    if table.rows:
        yield f"| {' | '.join(heads.values())} |"
        yield f"|---|{'---:|' * (len(heads) - 1)}"
    for row in table.rows:
        yield f"| {' | '.join(_shown(row[number]) for number in heads)} |"


def _shown(value: object) -> str:
    words = printable(str(value))
    return code(words) if isinstance(value, Name) else plain(words)
