"""A training job of SageMaker, whichever form it was written in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model.quantity import whole_number
from trainyard_jobs.convert.model import RefusedError
from trainyard_jobs.convert.remarks import Remarks


@dataclass(frozen=True, slots=True)
class Value:
    """A value and where it is."""

    value: Any
    at: Pointer


@dataclass(frozen=True, slots=True)
class Channel:
    """Data that SageMaker puts below ``/opt/ml/input/data``."""

    name: str
    source: str
    mode: str
    at: Pointer


@dataclass(frozen=True, slots=True)
class Distribution:
    """How SageMaker starts the ranks.

    Args:
        kind: ``mpi``, ``torch``, or empty: each instance runs the program once.
        ranks: of each instance; 0 for one each GPU.
        options: for mpirun.
    """

    kind: str
    ranks: int
    options: tuple[str, ...]
    at: Pointer


@dataclass(slots=True)
class Request:
    """A training job.

    Args:
        title: for messages.
        fields: by the names below; only those that the source has.
        hyperparameters: of the program, by name, in the order of the source.
        notes: about what has no field here.
        refusal: why the job can't be converted; None if it can.

    Fields: ``name``, ``image``, ``algorithm``, ``instances`` (number), ``instance_type``,
    ``entrypoint`` and ``arguments`` (words), ``program``, ``line`` (of a shell), ``source``,
    ``max_run`` (seconds), ``retries``, ``spot``, ``checkpoints`` (URI), ``checkpoint_folder``,
    ``output``.
    """

    title: str
    at: Pointer
    fields: dict[str, Value] = field(default_factory=dict)
    hyperparameters: dict[str, Value] = field(default_factory=dict)
    environment: dict[str, Value] = field(default_factory=dict)
    channels: list[Channel] = field(default_factory=list)
    distribution: Distribution | None = None
    notes: Remarks = field(default_factory=Remarks)
    refusal: RefusedError | None = None

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a field."""
        value = self.fields.get(name)
        return default if value is None else value.value

    def place(self, name: str) -> Pointer:
        """Return the place of a field; the job's where it has none."""
        value = self.fields.get(name)
        return self.at if value is None else value.at


def whole(value: Value, what: str) -> int:
    """Return a whole number above 0.

    Raises:
        RefusedError: it is none.
    """
    text = str(value.value)
    if not (number := whole_number(text)):
        raise RefusedError(value.at, what, f"{text} is not a whole number above 0")
    return number


SMDISTRIBUTED = (
    "smdistributed is a library of AWS for its own network: use torch.distributed with NCCL "
    "(`torch_distributed`), then convert again"
)
SERVERS = "parameter servers have another program on some nodes; a TrainJob has one on all"
MULTI_WORKER = "TensorFlow finds its workers in TF_CONFIG, which no runtime writes; Horovod runs"


def distribution_of(options: Mapping[str, Any], at: Pointer) -> Distribution | None:
    """Return the distribution of an estimator, as its argument ``distribution`` has it.

    Raises:
        RefusedError: it has no counterpart.
    """
    for name, asked in options.items():
        values = asked if isinstance(asked, dict) else {"enabled": asked}
        if name == "smdistributed":
            raise RefusedError(at, "smdistributed", SMDISTRIBUTED)
        if not values.get("enabled"):
            continue
        if name in _REFUSED:
            raise RefusedError(at, name, _REFUSED[name])
        if name == "mpi":
            ranks = whole(Value(values.get("processes_per_host", 1), at), "processes_per_host")
            return Distribution("mpi", ranks, words_of(values.get("custom_mpi_options", "")), at)
        if name in {"torch_distributed", "pytorchddp"}:
            return Distribution("torch", 0, (), at)
        raise RefusedError(at, name, "it is not a known distribution")
    return None


_REFUSED = {
    "parameter_server": SERVERS,
    "multi_worker_mirrored_strategy": MULTI_WORKER,
    "torchxla": "Trainium and XLA have no runtime here",
    "instance_groups": "a TrainJob has one kind of node (kubeflow/trainer#4064)",
}


def words_of(options: Any) -> tuple[str, ...]:
    """Return options for mpirun, which are a list or one text."""
    texts = options if isinstance(options, list | tuple) else str(options).split()
    return tuple(str(text) for text in texts)
