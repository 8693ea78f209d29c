"""Read the request of ``create-training-job``, or the answer of ``describe-training-job``.

Source of the fields: the model sagemaker/2017-07-24 of botocore 1.44.5.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from trainyard.diagnostics import Pointer, Step
from trainyard.model.lookup import mapping, mappings, value_at
from trainyard_jobs.convert.model import Body, Kind, RefusedError, Remark
from trainyard_jobs.convert.sagemaker.request import (
    SERVERS,
    SMDISTRIBUTED,
    Channel,
    Distribution,
    Request,
    Value,
    whole,
)
from trainyard_jobs.convert.words import words

_FIELDS = {
    "name": "TrainingJobName",
    "image": "AlgorithmSpecification.TrainingImage",
    "algorithm": "AlgorithmSpecification.AlgorithmName",
    "entrypoint": "AlgorithmSpecification.ContainerEntrypoint",
    "arguments": "AlgorithmSpecification.ContainerArguments",
    "instances": "ResourceConfig.InstanceCount",
    "instance_type": "ResourceConfig.InstanceType",
    "max_run": "StoppingCondition.MaxRuntimeInSeconds",
    "retries": "RetryStrategy.MaximumRetryAttempts",
    "spot": "EnableManagedSpotTraining",
    "checkpoints": "CheckpointConfig.S3Uri",
    "checkpoint_folder": "CheckpointConfig.LocalPath",
    "output": "OutputDataConfig.S3OutputPath",
}
_SILENT = words(
    """
    TrainingJobArn ModelArtifacts TrainingJobStatus SecondaryStatus
    SecondaryStatusTransitions FailureReason CreationTime TrainingStartTime TrainingEndTime
    LastModifiedTime FinalMetricDataList BillableTimeInSeconds TrainingTimeInSeconds
    BillableTokenCount DebugRuleEvaluationStatuses ProfilerRuleEvaluationStatuses
    ProfilingStatus WarmPoolStatus TuningJobArn LabelingJobArn AutoMLJobArn ResponseMetadata
    TrainingInputMode EnableSageMakerMetricsTimeSeries
    """
)
"""What describes a run, not the job."""
_NONE = "a TrainJob has nothing like it"
DROPPED = {
    "RoleArn": "pods have no role of AWS: give a bucket's keys as a Secret (the team's `storage`)",
    "VpcConfig": "the team's network policies decide what its pods reach",
    "EnableNetworkIsolation": "the team's network policies decide what its pods reach",
    "EnableInterContainerTrafficEncryption": "the team's `encryptionInTransit` and its cluster "
    "decide",
    "Tags": "write labels where somebody reads them",
    "MetricDefinitions": "nothing reads metrics from the log: write them to a tracker",
    "VolumeSizeInGB": "a pod has the ephemeral storage of its runtime, and the team's claims",
    "MaxWaitTimeInSeconds": "a job waits in its queue as long as it takes",
    "MaxPendingTimeInSeconds": "a job waits in its queue as long as it takes",
    "KeepAlivePeriodInSeconds": "nodes stay; there are no warm pools",
    "TrainingPlanArn": "the team's quota takes the place of a plan",
    "S3DataDistributionType": "each node sees all of the data: let each rank read its part",
    "KmsKeyId": "the team's storage is encrypted as its owner set it",
    "ExperimentConfig": "use a tracker of experiments in the program",
}
_BELOW = (
    "AlgorithmSpecification",
    "CheckpointConfig",
    "OutputDataConfig",
    "ResourceConfig",
    "RetryStrategy",
    "StoppingCondition",
)
_OF_CHANNEL = frozenset({"ChannelName", "DataSource", "InputMode"})
_OF_SOURCE = frozenset({"S3Uri", "DirectoryPath", "S3DataType", "FileSystemType"})


def read_training_job(file: str, body: Body, at: tuple[Step, ...]) -> Request:
    """Return the job of a request.

    Args:
        file: its name for messages.
        body: the request, or the answer.
        at: path of the body in its file.
    """
    root = Pointer(file, at)
    request = Request(f"training job {body.get('TrainingJobName', '')}".rstrip(), root)
    try:
        _fill(request, body, root)
    except RefusedError as error:
        request.refusal = error
    return request


def is_training_job(body: Any) -> bool:
    """Return whether data is a request or an answer about a training job."""
    return isinstance(body, dict) and "AlgorithmSpecification" in body


def _fill(request: Request, body: Body, root: Pointer) -> None:
    for name, path in _FIELDS.items():
        value = value_at(body, path)
        if value not in (None, [], ""):
            request.fields[name] = Value(value, root.below(path.split(".")))
    groups = mappings(body, "ResourceConfig", "InstanceGroups")
    if groups:
        take_groups(request, groups, root.below(("ResourceConfig", "InstanceGroups")))
    _split_hyperparameters(request, mapping(body, "HyperParameters"), root / "HyperParameters")
    for name, value in mapping(body, "Environment").items():
        request.environment[name] = Value(str(value), (root / "Environment") / name)
    request.channels.extend(_channels(body, root))
    request.notes.add(*_dropped(body, root))


def take_groups(request: Request, groups: Sequence[Body], at: Pointer) -> None:
    """Take the only type of instance of several groups.

    Raises:
        RefusedError: they have several, or there is no group.
    """
    if not groups:
        raise RefusedError(at, "InstanceGroups", "it has no group")
    types = sorted({str(group.get("InstanceType")) for group in groups})
    if len(types) > 1:
        meaning = f"{', '.join(types)}: a TrainJob has one kind of node (kubeflow/trainer#4064)"
        raise RefusedError(at, "InstanceGroups", meaning)
    counts = [whole(Value(group.get("InstanceCount"), at), "InstanceCount") for group in groups]
    request.fields["instance_type"] = Value(types[0], at)
    request.fields["instances"] = Value(sum(counts), at)


def _decoded(text: Any) -> Any:
    """Return a hyperparameter, which the SDK writes as JSON inside of a string."""
    try:
        return json.loads(str(text))
    except ValueError:
        return text


def _split_hyperparameters(request: Request, values: Mapping[str, Any], at: Pointer) -> None:
    """Take SageMaker's own hyperparameters, and leave those of the program."""
    own = {}
    for name, text in values.items():
        value = Value(_decoded(text), at / name)
        if name.startswith("sagemaker_"):
            own[name.removeprefix("sagemaker_")] = value
        elif not name.startswith("_tuning"):
            request.hyperparameters[name] = value
    for name, key in (("program", "program"), ("source", "submit_directory")):
        if key in own:
            request.fields[name] = own[key]
    request.distribution = _distribution(own)


def _distribution(own: Mapping[str, Value]) -> Distribution | None:
    """Return how the ranks are started, by SageMaker's own hyperparameters.

    Raises:
        RefusedError: in a way that has no counterpart.
    """
    places = {name: value.at for name, value in own.items() if value.value is True}
    _need_counterpart(places)
    if "mpi_enabled" in places:
        return _mpi(own)
    for name in ("torch_distributed_enabled", "pytorch_ddp_enabled"):
        if name in places:
            return Distribution("torch", 0, (), places[name])
    return None


def _need_counterpart(places: Mapping[str, Pointer]) -> None:
    for name, at in places.items():
        if name.startswith(("distributed", "smdistributed", "parameter_server")):
            meaning = SERVERS if name.startswith("parameter") else SMDISTRIBUTED
            raise RefusedError(at, f"sagemaker_{name}", meaning)


def _mpi(own: Mapping[str, Value]) -> Distribution:
    at = own["mpi_enabled"].at
    number = own.get("mpi_num_of_processes_per_host", Value(1, at))
    options = own.get("mpi_custom_mpi_options", Value("", at))
    ranks = whole(number, "sagemaker_mpi_num_of_processes_per_host")
    return Distribution("mpi", ranks, tuple(str(options.value).split()), at)


def _channels(body: Body, root: Pointer) -> Iterator[Channel]:
    usual = value_at(body, "AlgorithmSpecification.TrainingInputMode") or "File"
    for index, channel in enumerate(mappings(body, "InputDataConfig")):
        bucket = value_at(channel, "DataSource.S3DataSource.S3Uri")
        source = bucket or value_at(channel, "DataSource.FileSystemDataSource.DirectoryPath") or ""
        mode = channel.get("InputMode") or usual
        at = root.below(("InputDataConfig", index))
        yield Channel(str(channel.get("ChannelName", "")), str(source), str(mode), at)


def _dropped(body: Body, root: Pointer) -> Iterator[Remark]:
    """Yield what has no counterpart."""
    read = {path.split(".")[0] for path in _FIELDS.values()}
    read |= {"HyperParameters", "Environment", "InputDataConfig"}
    yield from _unread(body, root, read)
    leaves = {path.split(".")[-1] for path in _FIELDS.values()} | {"InstanceGroups"}
    for above in _BELOW:
        yield from _unread(mapping(body, above), root / above, leaves)
    for index, channel in enumerate(mappings(body, "InputDataConfig")):
        at = root.below(("InputDataConfig", index))
        yield from _unread(channel, at, _OF_CHANNEL)
        for kind in mapping(channel, "DataSource"):
            below = at.below(("DataSource", kind))
            yield from _unread(mapping(channel, "DataSource", kind), below, _OF_SOURCE)


def _unread(body: Body, at: Pointer, read: Collection[str]) -> Iterator[Remark]:
    above = f"{at.path[-1]}." if at.path and isinstance(at.path[-1], str) else ""
    for name, value in body.items():
        if name not in read and name not in _SILENT and value not in (None, [], {}, False):
            meaning = DROPPED.get(name, _NONE)
            yield Remark((at / name).key(), Kind.DROPPED, f"{above}{name}", meaning)
