"""Read the arguments of an estimator or a ModelTrainer from Python source, which is never run.

The arguments are from memory; they were not compared with a version of the SDK.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainyard_jobs.convert.model import Body, RefusedError
from trainyard_jobs.convert.sagemaker.channels import inputs_of, members, take_channels, take_inputs
from trainyard_jobs.convert.sagemaker.literals import (
    Names,
    UnknownError,
    constants,
    keywords_of,
    name_of,
)
from trainyard_jobs.convert.sagemaker.request import (
    Distribution,
    Request,
    Value,
    distribution_of,
    whole,
    words_of,
)
from trainyard_jobs.convert.sagemaker.training_job import DROPPED, take_groups
from trainyard_jobs.convert.words import words

_ESTIMATORS = words("Estimator PyTorch TensorFlow HuggingFace MXNet Chainer Framework")
_TRAINER = "ModelTrainer"
_NO_COUNTERPART = words("SKLearn XGBoost RLEstimator KMeans PCA LDA NTM FactorizationMachines")
FIELDS = {
    "base_job_name": "name",
    **dict.fromkeys(("image_uri", "image_name", "training_image"), "image"),
    "algorithm_name": "algorithm",
    **dict.fromkeys(("instance_count", "train_instance_count"), "instances"),
    **dict.fromkeys(("instance_type", "train_instance_type"), "instance_type"),
    **dict.fromkeys(("entry_point", "entry_script"), "program"),
    "command": "line",
    "source_dir": "source",
    "container_entry_point": "entrypoint",
    "container_arguments": "arguments",
    **dict.fromkeys(("max_run", "train_max_run", "max_runtime_in_seconds"), "max_run"),
    "max_retry_attempts": "retries",
    **dict.fromkeys(("use_spot_instances", "train_use_spot_instances"), "spot"),
    "enable_managed_spot_training": "spot",
    **dict.fromkeys(("checkpoint_s3_uri", "s3_uri"), "checkpoints"),
    **dict.fromkeys(("checkpoint_local_path", "local_path"), "checkpoint_folder"),
    **dict.fromkeys(("output_path", "s3_output_path"), "output"),
}
_NESTED = words(
    """
    source_code compute stopping_condition checkpoint_config output_data_config networking
    """
)
"""Arguments of a ModelTrainer that are objects with further arguments."""
_SILENT = words(
    """
    role sagemaker_session session sagemaker_client py_version framework_version
    transformers_version pytorch_version tensorflow_version disable_profiler
    disable_output_compression input_mode training_mode ignore_patterns
    container_log_level enable_sagemaker_metrics role_arn
    """
)
MEANINGS = {
    "subnets": DROPPED["VpcConfig"],
    "security_group_ids": DROPPED["VpcConfig"],
    "networking": DROPPED["VpcConfig"],
    "tags": DROPPED["Tags"],
    "metric_definitions": DROPPED["MetricDefinitions"],
    "volume_size": DROPPED["VolumeSizeInGB"],
    "volume_size_in_gb": DROPPED["VolumeSizeInGB"],
    "max_wait": DROPPED["MaxWaitTimeInSeconds"],
    "max_wait_time_in_seconds": DROPPED["MaxWaitTimeInSeconds"],
    "keep_alive_period_in_seconds": DROPPED["KeepAlivePeriodInSeconds"],
    "encrypt_inter_container_traffic": DROPPED["EnableInterContainerTrafficEncryption"],
    "enable_network_isolation": DROPPED["EnableNetworkIsolation"],
    "dependencies": "put them into the image",
    "requirements": "put the packages into the image",
    "git_config": "put the code into the image",
    "code_location": "put the code into the image",
}
_NONE = "a TrainJob has nothing like it"


def read_estimators(file: str, text: str) -> list[Request]:
    """Return the training jobs of a Python source, in its order.

    Args:
        file: its name for messages.
        text: of the source.

    Raises:
        SyntaxError: it is not Python.
    """
    tree = ast.parse(text)
    names = Names(file, constants(tree))
    calls = sorted(_calls(tree), key=lambda call: (call.lineno, call.col_offset))
    return [_request(call, names, inputs_of(tree, call)) for call in calls]


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    known = {*_ESTIMATORS, _TRAINER, *_NO_COUNTERPART}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node) in known:
            yield node


def _request(call: ast.Call, names: Names, inputs: ast.expr | None) -> Request:
    request = Request(f"{name_of(call)} of {names.file}", names.at(call))
    try:
        _fill(request, call, names, inputs)
    except RefusedError as error:
        request.refusal = error
    except UnknownError:
        meaning = "a part of it is not known before the source runs: write it out"
        request.refusal = RefusedError(request.at, name_of(call), meaning)
    return request


def _fill(request: Request, call: ast.Call, names: Names, inputs: ast.expr | None) -> None:
    name = name_of(call)
    if name in _NO_COUNTERPART:
        raise RefusedError(names.at(call), name, "it is not distributed training with a runtime")
    if call.args:
        meaning = "arguments by position are not read: give each by its name"
        raise RefusedError(names.at(call.args[0]), name, meaning)
    _take(request, call, names)
    if inputs is not None:
        take_inputs(request, inputs, names)


def _take(request: Request, call: ast.Call, names: Names) -> None:
    """Take the arguments of a call, and of the objects that are arguments."""
    for keyword in call.keywords:
        name, value = keyword.arg, names.behind(keyword.value)
        at = names.at(keyword.value)
        if name is None:
            meaning = "its names are not known before the source runs: write the arguments out"
            raise RefusedError(at, "**arguments", meaning)
        if name in _NESTED:
            _take_nested(request, name, value, names)
        elif name in _TAKERS:
            _TAKERS[name](request, value, names)
        elif name in FIELDS:
            _take_field(request, name, keyword.value, names)
        elif name not in _SILENT:
            request.notes.dropped(names.at(keyword), name, MEANINGS.get(name, _NONE))


def _take_nested(request: Request, name: str, node: ast.expr, names: Names) -> None:
    """Take an object with further arguments.

    Raises:
        RefusedError: which object it is, is not known before the source runs.
    """
    if isinstance(node, ast.Call):
        _take(request, node, names)
    elif not (isinstance(node, ast.Constant) and node.value is None):
        what = f"{name}={ast.unparse(node)[:_SHOWN]}"
        reason = f"{_UNKNOWN}: it is assigned more than once, imported or made elsewhere"
        raise RefusedError(names.at(node), what, reason, f"Write {name}=CLASS(...) out.")


_SHOWN = 40
"""Characters of an expression that a note quotes."""
_NEEDED = frozenset({"instances", "instance_type", "entrypoint", "arguments", "program", "line"})


def _take_field(request: Request, name: str, node: ast.expr, names: Names) -> None:
    at, field = names.at(node), FIELDS[name]
    try:
        value = names.value(node)
    except UnknownError as error:
        if field in _NEEDED:
            raise RefusedError(at, name, _NOT_KNOWN) from error
        request.notes.choose(at, name, "its value is not a constant: write it")
        return
    if value not in (None, ""):
        request.fields[field] = Value(value, at)


def _pairs(node: ast.expr, names: Names, what: str) -> list[tuple[str, ast.expr]]:
    """Return the members of a dict.

    Raises:
        RefusedError: it is not a dict.
    """
    if isinstance(node, ast.Call) and name_of(node) == "dict":
        return [(str(keyword.arg), keyword.value) for keyword in node.keywords]
    if isinstance(node, ast.Dict):
        return [(str(names.value(key)), value) for key, value in members(node)]
    raise RefusedError(names.at(node), what, "it is not a dict: write it out")


_UNKNOWN = "its value is not known before the source runs"
_NOT_KNOWN = f"{_UNKNOWN}: write it out"
_IN_ENV = f"{_UNKNOWN}: give it in spec.trainer.env, and a credential by `secretKeyRef` only"


def _take_hyperparameters(request: Request, node: ast.expr, names: Names) -> None:
    for name, written in _pairs(node, names, "hyperparameters"):
        at = names.at(written)
        try:
            request.hyperparameters[name] = Value(names.value(written), at)
        except UnknownError as error:
            raise RefusedError(at, f"hyperparameter `{name}`", _NOT_KNOWN) from error


def _take_environment(request: Request, node: ast.expr, names: Names) -> None:
    for name, written in _pairs(node, names, "environment"):
        at = names.at(written)
        try:
            request.environment[name] = Value(names.value(written), at)
        except UnknownError:
            request.notes.choose(at, f"variable {name}", _IN_ENV)


def _take_distribution(request: Request, node: ast.expr, names: Names) -> None:
    at = names.at(node)
    if isinstance(node, ast.Constant) and node.value is None:
        return
    try:
        options = names.value(node)
    except UnknownError as error:
        raise RefusedError(at, "distribution", "it is not known before the source runs") from error
    if isinstance(options, dict):
        request.distribution = distribution_of(options, at)


def _take_distributed(request: Request, node: ast.expr, names: Names) -> None:
    """Take ``MPI(...)`` or ``Torchrun(...)`` of a ModelTrainer."""
    at, kinds = names.at(node), {"MPI": "mpi", "Torchrun": "torch"}
    if not isinstance(node, ast.Call) or name_of(node) not in kinds:
        raise RefusedError(at, "distributed", "it is neither MPI(...) nor Torchrun(...)")
    values = {keyword.arg: names.value(keyword.value) for keyword in node.keywords}
    if values.get("smp"):
        raise RefusedError(at, "smp", "model parallelism of AWS has no counterpart")
    number = Value(values.get("process_count_per_node"), at)
    ranks = whole(number, "process_count_per_node") if number.value else 0
    options = words_of(values.get("mpi_additional_options") or ())
    request.distribution = Distribution(kinds[name_of(node)], ranks, options, at)


_GROUP = ("instance_group_name", "instance_type", "instance_count")
"""Arguments of an InstanceGroup by position (aws/sagemaker-python-sdk:instance_group.py)."""


def _take_groups(request: Request, node: ast.expr, names: Names) -> None:
    """Take the groups of instances of an estimator or of ``Compute(...)``.

    Raises:
        RefusedError: they are not written out, or are of several types.
    """
    if isinstance(node, ast.Constant) and node.value is None:
        return
    members = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
    groups = [_group(names.behind(member), names) for member in members]
    take_groups(request, groups, names.at(node))


def _group(node: ast.expr, names: Names) -> Body:
    """Return a group of instances as the API has it."""
    if not isinstance(node, ast.Call):
        raise RefusedError(names.at(node), "instance_groups", _NOT_KNOWN)
    given: dict[str | None, ast.expr] = dict(zip(_GROUP, node.args, strict=False))
    given |= keywords_of(node)
    return {_CAMEL[name]: names.value(given[name]) for name in _CAMEL if name in given}


_CAMEL = {"instance_type": "InstanceType", "instance_count": "InstanceCount"}


_TAKERS = {
    "instance_groups": _take_groups,
    "hyperparameters": _take_hyperparameters,
    "environment": _take_environment,
    "distribution": _take_distribution,
    "distributions": _take_distribution,
    "distributed": _take_distributed,
    "input_data_config": take_channels,
}
