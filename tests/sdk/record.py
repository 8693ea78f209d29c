"""Print the command that the Kubeflow SDK makes of a function, run with the SDK in its path.

Usage: python record.py FILE FUNCTION

It imports nothing of ours: the SDK is in a folder of its own, with its own libraries.
"""

# mypy: ignore-errors

import dataclasses
import importlib.util
import json
import sys

from kubeflow.trainer.backends.kubernetes import utils
from kubeflow.trainer.constants import constants
from kubeflow.trainer.types import types

file, name = sys.argv[1:]
spec = importlib.util.spec_from_file_location(name, file)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
trainer = types.RuntimeTrainer(types.TrainerType.CUSTOM_TRAINER, framework="torch", image="x")
trainer.set_command(constants.TORCH_COMMAND)
fields = {"name": "x", "trainer": trainer, "kind": "ClusterTrainingRuntime"}
known = {field.name for field in dataclasses.fields(types.Runtime)}
runtime = types.Runtime(**{key: value for key, value in fields.items() if key in known})
function = getattr(module, name)
print(json.dumps(utils.get_command_using_train_func(runtime, function, None, [], None)))
