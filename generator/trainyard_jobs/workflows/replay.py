"""Judge the objects of a cluster that runs by the policies that its profiles are rendered to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainyard.diagnostics import ToolError, TreeError
from trainyard.generation.generate import Generation
from trainyard.generation.objects import component_manifests
from trainyard.handed_in import OBJECTS, content_of, dumps_in, is_facts, objects, shown
from trainyard.model.differences import few
from trainyard.model.platform import Site
from trainyard_jobs.admission.bodies import Owner
from trainyard_jobs.admission.evaluator import judge_of
from trainyard_jobs.admission.made import Dump, Made
from trainyard_jobs.admission.passed import PassedOver, passed_over
from trainyard_jobs.admission.replay import Refusal, enforced, refusals

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Replayed:
    """What would be refused at the next start.

    Args:
        new: refusals that are not known.
        known: those that are.
        stale: entries of the list of known ones whose owner is judged, and not refused any more.
        unjudged: those whose owner is not judged.
        unknown_nodes: pods that name a node, whoever chose it: the dump has no managed fields.
        passed: objects that were not judged, by reason and kind.
        judged: number of objects and templates that were judged.
    """

    new: tuple[Refusal, ...]
    known: tuple[Refusal, ...]
    stale: tuple[Key, ...]
    unjudged: tuple[Key, ...]
    unknown_nodes: tuple[Owner, ...]
    passed: tuple[PassedOver, ...]
    judged: int


def read_objects(paths: Sequence[Path]) -> Dump:
    """Return the objects of dumps, and of folders of them.

    Raises:
        TreeError: a file can't be read, a named one is not a dump, or one has facts, without pods.
    """
    dumps, skipped = dumps_in(paths)
    if skipped:
        raise TreeError("; ".join(skipped))
    bodies = []
    for name, documents in dumps:
        if is_facts(documents[0]):
            raise TreeError(
                f"{name} has facts, and these have no pod and no template: hand in what "
                "`kubectl get -o json` prints"
            )
        bodies += [body for _, body in objects(name, documents)]
    return Dump(tuple(bodies))


def read_known(file: Path) -> list[Key]:
    """Return refusals that are known: lines of namespace, owner and policy.

    Raises:
        TreeError: it can't be read, or a line has another number of words.
    """
    lines = enumerate(content_of(file, OBJECTS)[1].splitlines(), 1)
    stated = ((number, line.partition("#")[0].split()) for number, line in lines)
    return [_key(f"{shown(file)}:{number}", words) for number, words in stated if words]


def _key(place: str, words: list[str]) -> Key:
    match words:
        case [namespace, owner, policy] if "/" in owner:
            return namespace, owner, policy
    raise TreeError(
        f"{place} is not `NAMESPACE KIND/NAME POLICY`, e.g. "
        "`inference Deployment/llm trainyard-pool-nodes`"
    )


def replay(generation: Generation, cluster: str, dump: Dump, known: Iterable[Key]) -> Replayed:
    """Return what the policies of a cluster would refuse of its objects at their next start.

    Args:
        generation: without errors, with this cluster.
        cluster: its name.
        dump: its objects.
        known: refusals that somebody takes care of.

    Raises:
        ToolError: the evaluator is not built, or fails.
        TreeError: the dump is of another cluster, or nothing in it is judged.
    """
    assert generation.checked.platform is not None
    site = next(site for site in generation.checked.platform.sites if site.name == cluster)
    every = (*generation.manifests[cluster], *component_manifests(site))
    dump = dump.beside(every)
    judge = judge_of(site.cluster.versions["kubernetes"], enforced(every, dump))
    if judge is None:
        raise ToolError("the evaluator is not built; build it once with `trainyard fit --build`")
    made = list(dump.requests())
    need_cluster(site, dump, made)
    found = {each.key: each for each in refusals(judge, dump, made)}
    return _sorted_out(found, set(known), dump, made)


def need_cluster(site: Site, dump: Dump, made: Sequence[Made]) -> None:
    """Refuse the dump of another cluster.

    Before the first sync a cluster has only those of the teams' namespaces that are taken over.

    Raises:
        TreeError: none of these is in the dump, or of all teams' where nothing in it is judged.
    """
    spaces = [space.namespace for space in site.spaces]
    adopted = _taken(site, spaces)
    if dump.namespaces.isdisjoint(spaces) and (adopted or not made):
        raise TreeError(
            f"nothing is judged: the dump has none of the teams' namespaces of cluster {site.name} "
            f"({few(adopted or spaces) or 'it has no team'}). Is it of this cluster, and of all "
            "namespaces?"
        )


def _taken(site: Site, names: Iterable[str]) -> list[str]:
    """Return which namespaces the cluster has of others, and takes over."""
    objects = set(site.cluster.adoption.objects)
    return [name for name in names if f"Namespace/{name}" in objects]


def _sorted_out(
    found: Mapping[Key, Refusal], known: Collection[Key], dump: Dump, made: Sequence[Made]
) -> Replayed:
    judged = {each.owner.words for each in made}
    new, was_known = _parted(found, found.keys() & known)
    gone = sorted(set(known) - found.keys())
    unjudged, stale = _parted(gone, [key for key in gone if key[:2] in judged])
    return Replayed(
        new=tuple(found[key] for key in new),
        known=tuple(found[key] for key in was_known),
        stale=stale,
        unjudged=unjudged,
        unknown_nodes=dump.unknown_nodes,
        passed=passed_over(dump, made),
        judged=len(made),
    )


def _parted(keys: Iterable[Key], chosen: Collection[Key]) -> tuple[tuple[Key, ...], ...]:
    """Return the keys that are not chosen, and those that are, each in their order."""
    every = tuple(keys)
    return tuple(
        tuple(key for key in every if (key in chosen) is wanted) for wanted in (False, True)
    )
