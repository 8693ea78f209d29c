"""Pages of figures as text of at most 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from trainyard.cli.console import printable
from trainyard.cli.tables.model import TEXT, Block, Page, Part, Table

COLUMNS = 80
_CUT = "…"


def text(pages: Sequence[Page]) -> str:
    """Return all clusters."""
    return "\n\n".join("\n".join(_page(page)) for page in pages)


def _page(page: Page) -> Iterator[str]:
    yield _cut(f"cluster {page.cluster}", COLUMNS)
    for part in page.parts:
        yield ""
        yield from _part(part)
    if page.end:
        yield ""
        yield from _wrapped("", page.end)


def _part(part: Part) -> Iterator[str]:
    """Yield the title, and the blocks, with a blank line before a second table."""
    yield from _title(part)
    tables = 0
    for block in part.blocks:
        if isinstance(block, Table):
            yield from [""] if tables else ()
            tables += 1
        yield from _block(block)


def _title(part: Part) -> list[str]:
    title = f"{part.title} {part.name}".rstrip()
    figures = f": {part.figures}" if part.figures else ""
    if part.wraps:
        return _wrapped("", title + figures)
    return [_cut(title, COLUMNS - len(figures)) + figures]


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, str):
        yield from _wrapped("  ", block)
    else:
        for item in block:
            yield from _wrapped("  " * (item.depth + 1), "".join(item.words))


def _table(table: Table) -> Iterator[str]:
    """Yield lines with the first column cut to what the others leave."""
    heads = table.shown(TEXT)
    rows = [*table.rows, table.total] if table.total else table.rows
    if not rows:
        return
    lines = [list(heads.values())]
    for row in rows:
        cells = (str(row[number]) for number in heads)
        lines.append(list(map(printable, cells)))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    widths[1] = min(widths[1], table.second)
    widths[0] = min(widths[0], COLUMNS - sum(widths[1:]) - 2 * len(widths))
    for line in lines:
        yield _row(line, widths)
    if table.note:
        yield f"  {table.note}"


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return a line with its two names at the left of their columns, and numbers at the right."""
    aligned = []
    for number, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        aligned.append(_cut(cell, width).ljust(width) if number < 2 else cell.rjust(width))
    return f"  {'  '.join(aligned)}".rstrip()


def _wrapped(indent: str, line: str) -> list[str]:
    """Return a line as several of at most the width, the later ones indented further."""
    return wrap(
        printable(line),
        COLUMNS,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_on_hyphens=False,
    )


def _cut(name: str, width: int) -> str:
    """Return a name without control characters, cut to a width."""
    shown = printable(name)
    return shown if len(shown) <= width else shown[: max(width - 1, 0)] + _CUT
