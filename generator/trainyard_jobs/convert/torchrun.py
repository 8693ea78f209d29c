"""Read a call of torchrun, accelerate or deepspeed: Trainer gives nodes, ranks and their place.

Sources of the options: pytorch/pytorch:torch/distributed/run.py@010929fd,
huggingface/accelerate:src/accelerate/commands/launch.py@00785cd9 and
deepspeedai/DeepSpeed:deepspeed/launcher/runner.py@2d991ba3.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from trainyard.model.quantity import whole_number
from trainyard_jobs.convert.words import words as words_of

Word = TypeVar("Word")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The options of a program that starts the ranks of a node.

    Args:
        values: options with a value; empty where any option that is not a flag has one.
        flags: options without a value.
        given: those that Trainer gives, or that mean nothing here.
        nodes: option with the number of nodes.
        ranks: option with the ranks of each node.
        total: option with the ranks of all nodes; empty for none.
        default: ranks of each node without an option.
    """

    values: frozenset[str]
    flags: frozenset[str]
    given: frozenset[str]
    nodes: str
    ranks: str
    total: str = ""
    default: str = "auto"


_TORCHRUN = Dialect(
    words_of(
        """
        nnodes nproc-per-node rdzv-backend rdzv-endpoint rdzv-id rdzv-conf max-restarts
        monitor-interval start-method role log-dir redirects r tee t local-ranks-filter node-rank
        master-addr master-port local-addr logs-specs event-log-handler numa-binding
        duplicate-stdout-filters duplicate-stderr-filters signals-to-handle
        """
    ),
    words_of("standalone no-python m module run-path use-env virtual-local-rank"),
    words_of(
        """
        nnodes nproc-per-node node-rank master-addr master-port rdzv-backend rdzv-endpoint rdzv-id
        rdzv-conf standalone local-addr use-env
        """
    ),
    "nnodes",
    "nproc-per-node",
    default="1",
)
_DEEPSPEED = Dialect(
    words_of(
        """
        H hostfile i include e exclude num-nodes min-elastic-nodes max-elastic-nodes num-gpus
        num-accelerators master-port master-addr node-rank launcher launcher-args
        enable-each-rank-log autotuning comment account bind-core-list ssh-port
        """
    ),
    words_of(
        """
        module no-python no-local-rank no-ssh no-ssh-check force-multi save-pid elastic-training
        bind-cores-to-rank
        """
    ),
    words_of(
        """
        H hostfile num-nodes num-gpus num-accelerators master-port master-addr node-rank launcher
        launcher-args comment account ssh-port no-local-rank no-ssh no-ssh-check force-multi
        save-pid
        """
    ),
    "num-nodes",
    "num-gpus",
)
_ACCELERATE = Dialect(
    frozenset(),
    words_of(
        """
        quiet q cpu multi-gpu tpu ipex enable-cpu-affinity dynamo-use-fullgraph dynamo-use-dynamic
        use-deepspeed use-fsdp use-megatron-lm use-xpu same-network m module no-python tpu-cluster
        no-tpu-cluster tpu-use-sudo downcast-bf16 fp8-use-autocast-during-eval debug
        """
    ),
    words_of(
        """
        num-machines num-processes machine-rank main-process-ip main-process-port rdzv-backend
        rdzv-conf same-network deepspeed-hostfile deepspeed-multinode-launcher
        deepspeed-inclusion-filter deepspeed-exclusion-filter
        """
    ),
    "num-machines",
    "",
    "num-processes",
)
DIALECTS = {"torchrun": _TORCHRUN, "deepspeed": _DEEPSPEED, "accelerate": _ACCELERATE}
"""Options by the program."""
_MODULES = {"torch.distributed.run", "torch.distributed.launch"}
_CALL = re.compile(r"(?<![\w./-])(?:[\w./-]*/)?(?:torchrun|accelerate|deepspeed|python[\d.]*)(?= )")
_EXPANSION = re.compile(r"\$\(\(.*?\)\)|\$\([^()\n]*\)")
"""A computed number, or what a command prints: one word, with spaces in it."""
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
        total: of the ranks of all nodes.
        default: ranks of each node where the call does not state them.
        unknown: index of an option that the program does not have; -1 for none.
        program: index of the first word that is not an option.
    """

    kept: tuple[int, ...]
    nodes: tuple[str, int] = ("", 0)
    ranks: tuple[str, int] = ("", 0)
    total: tuple[str, int] = ("", 0)
    default: str = "1"
    unknown: int = -1
    program: int = 0

    def words_kept(self, words: Sequence[Word]) -> list[Word]:
        """Return the words of the call that stay."""
        return [words[index] for index in self.kept]

    @property
    def number_of_ranks(self) -> int | None:
        """Ranks of each node; 0 for one each GPU, None if it is not a number."""
        return _number(self.ranks[0] or self.default)

    @property
    def number_of_nodes(self) -> int | None:
        """Nodes, of a range the largest; 0 where the call does not state them."""
        return _number(self.nodes[0].rpartition(":")[2] or "auto")

    def takes(self, nodes: int) -> bool:
        """Return whether it starts on some nodes: on its number, or on each of its range."""
        least, most = _number(self.nodes[0].partition(":")[0] or "auto"), self.number_of_nodes
        return not least or not most or least <= nodes <= most


def is_torchrun(words: Sequence[str]) -> bool:
    """Return whether a command is torchrun, or the module behind it."""
    return _start(words) > 0


def is_old(words: Sequence[str]) -> bool:
    """Return whether a command is the older module, which gives each rank an argument."""
    return OLD in words[:4] and "--use_env" not in words


def starter(words: Sequence[str]) -> str:
    """Return the program of a call that starts the ranks of a node; empty for another."""
    name = words[0].rpartition("/")[2] if words else ""
    if name == "deepspeed" or (name == "accelerate" and words[1:2] == ["launch"]):
        return name
    return "torchrun" if _start(words) else ""


def calls_in(script: str) -> Iterator[list[str]]:
    """Yield the words of the first call in each line of a shell's script: of a starter, or Python.

    A line whose quotes are not closed has none.
    """
    text = _EXPANSION.sub(lambda found: found[0].replace(" ", ""), script.replace("\\\n", " "))
    for line in text.splitlines():
        if call := _CALL.search(line):
            try:
                yield shlex.split(line[call.start() :])
            except ValueError:
                continue


def read_call(words: Sequence[str]) -> TorchCall:
    """Return a call of a program that is a `starter`."""
    name = starter(words)
    start = {"deepspeed": 1, "accelerate": 2}.get(name) or _start(words)
    return _read(words, start, DIALECTS[name])


def read_torchrun(words: Sequence[str]) -> TorchCall:
    """Return a call of torchrun, or of ``python -m torch.distributed.run``."""
    return _read(words, _start(words), _TORCHRUN)


def _read(words: Sequence[str], at: int, known: Dialect) -> TorchCall:
    kept = list[int]()
    stated: dict[str, tuple[str, int]] = {}
    while at < len(words) and words[at].startswith("-"):
        option, equals, value = words[at].lstrip("-").partition("=")
        name = option.replace("_", "-")
        if known.values and name not in known.values | known.flags:
            return TorchCall((), unknown=at)
        end = min(at + 1 + (name not in known.flags and not equals), len(words))
        stated[name] = (value or " ".join(words[at + 1 : end]), at)
        kept += range(at, at if name in known.given else end)
        at = end
    rest, none = (*kept, *range(at, len(words))), ("", 0)
    nodes, ranks = stated.get(known.nodes, none), stated.get(known.ranks, none)
    total = stated.get(known.total, none)
    return TorchCall(rest, nodes, ranks, total, known.default, program=at)


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
