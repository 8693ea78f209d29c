"""Convert jobs of other systems that files hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trainyard.diagnostics import Pointer, TreeError
from trainyard.handed_in import objects, read_source
from trainyard.model.platform import Platform
from trainyard.model.tenant import Tenant
from trainyard.plainfile import LARGEST
from trainyard.yaml_io.source import Source
from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.finish import finish
from trainyard_jobs.convert.model import Body, Conversion, Remark
from trainyard_jobs.convert.mpijob.job import converted, is_mpijob
from trainyard_jobs.convert.pytorchjob import converted_pytorchjob, is_pytorchjob

_ENDINGS = frozenset({".json", ".yaml", ".yml"})


@dataclass(frozen=True, slots=True)
class Converted:
    """The jobs of some files.

    Args:
        conversions: in the order of the files.
        sources: of the notes' places, by file.
        others: number of objects that are none of the wanted jobs.
    """

    conversions: tuple[Conversion, ...]
    sources: Mapping[str, Source]
    others: int = 0


Reader = Callable[[Body, Pointer, Tenant | None], Conversion]
"""Returns a job of one kind as a TrainJob."""


def convert_mpijobs(files: Sequence[Path], tenant: Tenant | None) -> Converted:
    """Return the MPIJobs of YAML and JSON files as TrainJobs, as `convert_objects` does."""
    return convert_objects(files, tenant, is_mpijob, converted)


def convert_pytorchjobs(files: Sequence[Path], tenant: Tenant | None) -> Converted:
    """Return the PyTorchJobs of YAML and JSON files as TrainJobs, as `convert_objects` does."""
    return convert_objects(files, tenant, is_pytorchjob, converted_pytorchjob)


def convert_objects(
    files: Sequence[Path], tenant: Tenant | None, is_wanted: Callable[[Body], bool], read: Reader
) -> Converted:
    """Return the jobs of one kind in YAML and JSON files as TrainJobs.

    Args:
        files: folders are searched for such files; ``-`` is standard input.
        tenant: the team that submits the jobs; None when it is not known.
        is_wanted: whether an object is of the kind.
        read: returns such an object as a TrainJob.

    Raises:
        TreeError: a file can't be read, is not YAML, or has an object without kind; or all files
            together are too large.
    """
    conversions: list[Conversion] = []
    sources = list(_sources(files))
    others = 0
    for source in sources:
        for path, body in objects(source.file, source.value):
            if is_wanted(body):
                conversion = read(body, Pointer(source.file, path), tenant)
                conversions.append(in_order(conversion, source))
            else:
                others += 1
    by_file = {source.file: source for source in sources}
    return Converted(tuple(conversions), by_file, others)


def in_order(conversion: Conversion, source: Source) -> Conversion:
    """Return a conversion with its notes in the order of the source, each once."""

    def position(note: Remark) -> tuple[int, int]:
        mark = source.mark(note.at)
        return mark.line, mark.column

    notes = sorted(dict.fromkeys(conversion.notes), key=position)
    return replace(conversion, notes=tuple(notes))


def drafts_converted(
    files: Iterable[Path],
    read: Callable[[Path], tuple[Source, Iterable[Draft]]],
    tenant: Tenant | None,
) -> Converted:
    """Return the jobs of files as TrainJobs.

    Args:
        files: in their order.
        read: returns a file with the drafts of its jobs.
        tenant: the team that submits the jobs; None when it is not known.
    """
    conversions: list[Conversion] = []
    sources: dict[str, Source] = {}
    for file in files:
        source, drafts = read(file)
        sources[source.file] = source
        conversions += [in_order(finish(draft, tenant), source) for draft in drafts]
    return Converted(tuple(conversions), sources)


def tenant_of(platform: Platform, team: str, cluster: str) -> Tenant | None:
    """Return a team on a cluster; None when it has no quota there."""
    for site in platform.sites:
        for tenant in site.tenants:
            if (site.name, tenant.name) == (cluster, team):
                return tenant
    return None


def _sources(files: Sequence[Path]) -> Iterator[Source]:
    left = LARGEST
    for file in _files(files):
        source = read_source(file)
        left -= len(source.content)
        if left < 0:
            raise TreeError(f"the files have more than {LARGEST >> 20} MiB: hand in parts of them")
        yield source


def _files(files: Sequence[Path]) -> Iterator[Path]:
    for file in files:
        if str(file) != "-" and file.is_dir():
            yield from sorted(below for below in file.rglob("*") if below.suffix in _ENDINGS)
        else:
            yield file
