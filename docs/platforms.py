"""Write the page of what works and what is refused, from the providers, presets and releases."""

from __future__ import annotations

from collections.abc import Iterator

from docs.markdown import cell
from trainyard.model.accelerator import MAKERS
from trainyard.model.provider import Provider, Request, Separation
from trainyard.model.providers import PROVIDERS
from trainyard.model.refusal import REFUSALS
from trainyard.profiles.read import PACKAGE, releases
from trainyard.yaml_io.reader import read

_LIMITS = {
    Separation.PODS: "works",
    Separation.POOLS: "works, with one team on each pool; with several, a waiver",
    Separation.NOTHING: "works, with one team on the fabric; with several, a waiver",
}

_TESTED = {
    "rehearsed": "works: its controllers ran the tree",
    "schemas": "its objects fit its controllers' schemas; not yet rehearsed",
}


def platforms() -> Iterator[str]:
    """Yield the lines of the page."""
    yield from ("# What it is for, and what not", "")
    yield "Trainyard is for multi-node training on whole GPU nodes that teams share."
    yield "What is not listed here is refused by name, or was not tried."
    yield from _fabrics()
    yield from _owners()
    yield from _accelerators()
    yield from _servers()
    yield from _quotas()
    yield from _releases()


def _fabrics() -> Iterator[str]:
    yield from ("", "## Fabrics", "")
    yield "The kind is `link` of a fabric in the cluster's profile."
    yield "A pool without a fabric uses TCP over the pod network, which works everywhere."
    yield from ("", "| `link` | what it is | where | state |", "|---|---|---|---|")
    for each in PROVIDERS.values():
        where = ", ".join(each.places)
        state = _LIMITS[each.separation]
        yield f"| `{each.name}` | {cell(each.title)} | {cell(where)} | {state} |"
    for refusal in REFUSALS.values():
        reason = f"refused. {refusal.reason} {refusal.instead}"
        yield f"| `{refusal.name}` | {cell(refusal.title)} |  | {cell(reason)} |"


def _owners() -> Iterator[str]:
    yield from ("", "## What each fabric gives, and who sets it up", "")
    yield "A pod of a whole node requests what the second column says; a job can't change it."
    yield from (
        "",
        "| `link` | a pod requests | quota | separated by | network of | shares of a node |",
        "|---|---|---|---|---|---|",
    )
    for each in PROVIDERS.values():
        shares = "with `fabric: tcp` only" if each.whole_nodes else "yes"
        columns = (_request(each), each.quota, each.separated_by, each.network_owner, shares)
        yield f"| `{each.name}` | {' | '.join(map(cell, columns))} |"
    yield from ("", "Ranks get these variables beside those of their launcher:", "")
    yield from ("| `link` | variables | NCCL's log where it is used |", "|---|---|---|")
    for each in PROVIDERS.values():
        given = {**each.environment, **each.launcher.get("openmpi", {})}
        variables = ", ".join(f"`{name}={value}`" for name, value in given.items())
        ucx = "`UCX_TLS`, " if each.ucx else ""
        yield f"| `{each.name}` | {ucx}{cell(variables)} | `{each.proof}` |"


_NAMED = {"": "", "devices": "the resource under `devices`", "networks": "those of `networks`"}
"""What a pod is given, by the key of the fabric's profile that names it."""


def _request(provider: Provider) -> str:
    words = provider.request.value
    if provider.request is Request.RAILS:
        return words
    return f"{words}: {_NAMED[provider.named] or f'`{provider.devices}`'}"


def _accelerators() -> Iterator[str]:
    yield from ("", "## Accelerators", "", "| `gpu.resource` | state |", "|---|---|")
    for maker in MAKERS:
        state = f"works, without {maker.without}" if maker.without else "works"
        state = f"refused, since it lacks {maker.lacks}" if maker.lacks else state
        yield f"| `{maker.resource}` of {maker.name} | {state} |"
    yield "| any other | refused: no runtime has its settings |"
    yield (
        "| NVLink between nodes (GB200, GB300) | works with `nvlink: true` of the pool, with Kueue "
        "0.18.2 and later; refused with others |"
    )
    yield "| none | works: pools of CPU nodes have a queue of their own |"


def _servers() -> Iterator[str]:
    yield from ("", "## Servers", "")
    yield "These have a [preset](presets.md); any other works with a hardware profile of your own."
    yield from ("", "| preset | what it is |", "|---|---|")
    for path in sorted((PACKAGE / "presets").glob("*.yaml")):
        source, _ = read(path.name, path.read_bytes())
        yield f"| `{path.stem}` | {cell(source.value['description'])} |"


_QUOTAS = {
    "more than a node but no whole nodes, e.g. 20 GPUs": (
        "refused on one pool, since parts of a node could hold nodes that others own whole. State "
        "two nodes on one pool, and four GPUs as a share on another, with nodes of its own."
    ),
    "a weight of a team in its cohort": "works: `weight`, with `sharing: fair`",
    "quota and limits of a whole cohort": (
        "refused: such nodes would belong to no team that pays for them. A team of its own can own "
        "and lend them, and `borrow` of each other team is its limit."
    ),
    "a share that is only borrowed (`gpus: 0`)": (
        "refused: a job has the size of its team's own share, and without one it has none. Give "
        "each a share, and lend idle ones in a cohort."
    ),
    "the site's names of namespaces and LocalQueues": "works: `namespace` and `queues`",
    "the site's name of a ClusterQueue": (
        "refused: with one name the first sync would hold the queue in which the site's jobs run. "
        "No user sees the name."
    ),
}
"""Quotas and names that sites have, and their state."""


def _quotas() -> Iterator[str]:
    yield from ("", "## Quota and queues", "", "| what sites have | state |", "|---|---|")
    for title, state in _QUOTAS.items():
        yield f"| {title} | {cell(state)} |"


def _releases() -> Iterator[str]:
    yield from ("", "## Releases", "")
    yield "Other versions of these operators may refuse the objects, or deadlock together."
    yield from ("", "| release | state |", "|---|---|")
    for name, source in sorted(releases().items()):
        yield f"| [`{name}`](../explanation/releases.md) | {_TESTED[source.value['tested']]} |"
