"""Read a call of torchrun: Trainer gives the nodes, their ranks and the place to meet.

The options are from memory; they were not compared with a version of PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from trainyard.model.quantity import whole_number
from trainyard_jobs.convert.words import words as words_of

Word = TypeVar("Word")

_VALUES = words_of(
    """
    nnodes nproc-per-node rdzv-backend rdzv-endpoint rdzv-id rdzv-conf max-restarts
    monitor-interval start-method role log-dir redirects tee local-ranks-filter node-rank
    master-addr master-port local-addr logs-specs event-log-handler numa-binding
    duplicate-stdout-filters duplicate-stderr-filters signals-to-handle
    """
)
_FLAGS = words_of("standalone no-python m module run-path use-env virtual-local-rank")
_TRAINERS = words_of(
    """
    nnodes nproc-per-node node-rank master-addr master-port rdzv-backend rdzv-endpoint rdzv-id
    rdzv-conf standalone local-addr use-env
    """
)
"""Options that Trainer sets as variables, or that mean nothing here."""
_MODULES = {"torch.distributed.run", "torch.distributed.launch"}
GIVEN = "Trainer sets nodes, ranks and the first node's name (PET_*); torchrun reads them"
"""Of a note about the options that are left out."""
OLD = "torch.distributed.launch"
"""Module whose program got the argument ``--local-rank``."""


@dataclass(frozen=True, slots=True)
class TorchCall:
    """A call of torchrun.

    Args:
        kept: indexes of the words that stay: other options, the script and its arguments.
        nodes: value of ``--nnodes``, and the index of the option; empty without it.
        ranks: of ``--nproc-per-node``.
        unknown: index of an option that torchrun does not have; -1 for none.
    """

    kept: tuple[int, ...]
    nodes: tuple[str, int] = ("", 0)
    ranks: tuple[str, int] = ("", 0)
    unknown: int = -1

    def words_kept(self, words: Sequence[Word]) -> list[Word]:
        """Return the words of the call that stay."""
        return [words[index] for index in self.kept]

    @property
    def number_of_ranks(self) -> int | None:
        """Ranks of each node; 0 for one each GPU, None if it is not a number."""
        return _number(self.ranks[0] or "1")

    @property
    def number_of_nodes(self) -> int | None:
        """Nodes, of a range the largest; 0 where the call does not state them."""
        return _number(self.nodes[0].rpartition(":")[2] or "auto")


def is_torchrun(words: Sequence[str]) -> bool:
    """Return whether a command is torchrun, or the module behind it."""
    return _start(words) > 0


def is_old(words: Sequence[str]) -> bool:
    """Return whether a command is the older module, which gives each rank an argument."""
    return OLD in words[:4] and "--use_env" not in words


def read_torchrun(words: Sequence[str]) -> TorchCall:
    """Return a call of torchrun, or of ``python -m torch.distributed.run``."""
    at, kept = _start(words), list[int]()
    stated: dict[str, tuple[str, int]] = {}
    while at < len(words) and words[at].startswith("-"):
        option, equals, value = words[at].lstrip("-").partition("=")
        name = option.replace("_", "-")
        if name not in _VALUES | _FLAGS:
            return TorchCall((), unknown=at)
        end = at + 1 + (name in _VALUES and not equals)
        stated[name] = (value or " ".join(words[at + 1 : end]), at)
        kept += [] if name in _TRAINERS else range(at, end)
        at = end
    none = ("", 0)
    rest = (*kept, *range(at, len(words)))
    return TorchCall(rest, stated.get("nnodes", none), stated.get("nproc-per-node", none))


def _start(words: Sequence[str]) -> int:
    """Return the index of the first option; 0 where the command is not torchrun."""
    name = words[0].rpartition("/")[2] if words else ""
    if name == "torchrun":
        return 1
    if name.startswith("python") and "-m" in words[:3]:
        for index, word in enumerate(words[:4]):
            if word in _MODULES:
                return index + 1
    return 0


def _number(text: str) -> int | None:
    if text in {"auto", "cpu", "gpu"}:
        return 0
    return whole_number(text)
