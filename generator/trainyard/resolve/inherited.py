"""What a hardware profile has of those that it extends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from trainyard.diagnostics import Diagnostic, Note, Pointer
from trainyard.model.accelerator import whole
from trainyard.rules.node.facts_of_another_product import RULE
from trainyard.yaml_io.source import Plain, Source

_OF_A_SERVER = (
    *("cpu.cores", "numaNodes", "memory", "ephemeralStorage"),
    *("gpu.minimumCuda", "nics", "nic.device"),
)
"""Facts that change with the product: it is in another server."""


def paths(fields: Mapping[str, Plain], above: str = "") -> Iterator[str]:
    """Yield the path of each key, joined with dots."""
    for key, value in fields.items():
        yield f"{above}{key}"
        if isinstance(value, dict):
            yield from paths(value, f"{above}{key}.")


def kept(name: str, chain: Sequence[Source], has_rails: bool) -> Iterator[Diagnostic]:
    """Yield a finding if a profile keeps what belongs to another product than its own.

    Args:
        name: of the profile.
        chain: the profile and what it extends, most specific first.
        has_rails: whether the node that they describe has some.
    """
    stating = [source for source in chain if _product(source)]
    others = [source for source in stating if _product(source) != _product(stating[0])]
    if not others:
        return
    if listed := _kept(chain, chain.index(stating[0]) + 1, has_rails):
        server = f"a server with {_product(others[0])}"
        message = f"a `{name}` has {_product(stating[0])}, but keeps {listed} of {server}"
        yield RULE.at(_place(stating[0]), message, notes=[Note(server, _place(others[0]))])


def _kept(chain: Sequence[Source], own: int, has_rails: bool) -> str:
    """Return the server's facts that only the profiles after the first ones state, as text."""
    facts = _facts(chain[own:]) - _facts(chain[:own])
    if not has_rails:
        facts.discard("nic.device")
    return ", ".join(f"`{fact}`" for fact in _OF_A_SERVER if fact in facts)


def _product(source: Source) -> str:
    """Return the product that a profile itself states, as that of whole GPUs; empty for none."""
    return whole(source.value.get("gpu", {}).get("product", ""))


def _place(source: Source) -> Pointer:
    return Pointer(source.file) / "gpu" / "product"


def _facts(sources: Iterable[Source]) -> set[str]:
    """Return the paths that some profile states."""
    return {path for source in sources for path in paths(source.value)}
