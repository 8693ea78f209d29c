"""The properties: each draws one input from Hypothesis' data and returns its outcome."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import grammars, readers
from tests.fuzz.corpus import ROOT, SEEDS
from tests.fuzz.mutations import damaged, documents, edited, seeds
from tests.fuzz.targets import Outcome, check_bytes, check_platform
from trainyard.schema.profiles import profile_kinds
from trainyard.yaml_io.emitter import emit
from trainyard.yaml_io.manifests import parse_manifests, read_handwritten
from trainyard_jobs.convert.reasons import Asked
from trainyard_jobs.workflows.convert import convert_mpijobs
from trainyard_jobs.workflows.convert_sagemaker import convert_training_jobs
from trainyard_jobs.workflows.convert_slurm import convert_batch_scripts

_SLOW = 30.0
"""Maximum seconds of the processor for one input."""

Property = Callable[[st.DataObject], Outcome]


def raw_bytes(data: st.DataObject) -> Outcome:
    """Read any bytes as a profile of any kind."""
    return check_bytes(
        data.draw(st.sampled_from(profile_kinds())), data.draw(st.binary(max_size=300))
    )


def damaged_file(data: st.DataObject) -> Outcome:
    """Read a committed file with damaged bytes as a profile of any kind."""
    content = data.draw(damaged(data.draw(seeds)))
    return check_bytes(data.draw(st.sampled_from(profile_kinds())), content)


def damaged_platform(data: st.DataObject) -> Outcome:
    """Check a committed platform with damaged bytes in one file."""
    seed = data.draw(seeds)
    return check_platform(seed, data.draw(damaged(seed)))


def edited_platform(data: st.DataObject) -> Outcome:
    """Check a committed platform with other keys and values in one file."""
    seed = data.draw(documents)
    return check_platform(seed, data.draw(edited(seed)))


def handed_job(data: st.DataObject) -> Outcome:
    """Judge a spoilt TrainJob, beside what is in use or not."""
    usage = data.draw(st.none() | grammars.as_json(readers.snapshots()))
    return readers.fit(data.draw(grammars.as_json(readers.jobs())), usage)


def damaged_job(data: st.DataObject) -> Outcome:
    """Judge a TrainJob whose file is damaged."""
    written = [emit(each) for each in readers.jobs()]
    return readers.fit(data.draw(grammars.damaged_text(written)), None)


def jobs_dump(data: st.DataObject) -> Outcome:
    """Name the jobs of a spoilt or damaged dump that a change hits."""
    written = [emit(each) for each in readers.dumps()]
    return readers.dump(
        data.draw(grammars.as_json(readers.dumps()) | grammars.damaged_text(written))
    )


def mpijob(data: st.DataObject) -> Outcome:
    """Convert a spoilt MPIJob, or a damaged file of one."""
    contents = CONTENTS["mpijob/*.yaml"]
    content = data.draw(grammars.as_json(MPIJOBS) | grammars.damaged_text(contents))
    return readers.convert(convert_mpijobs, "job.yaml", content)


def training_job(data: st.DataObject) -> Outcome:
    """Convert a spoilt request of SageMaker."""
    return readers.convert(
        convert_training_jobs, "job.json", data.draw(grammars.as_json(TRAINING_JOBS))
    )


def estimator(data: st.DataObject) -> Outcome:
    """Convert Python source of any expressions, or a damaged one."""
    contents = CONTENTS["sagemaker/*.py.txt"]
    content = data.draw(grammars.python() | grammars.damaged_text(contents))
    return readers.convert(convert_training_jobs, "job.py", content)


def batch_script(data: st.DataObject) -> Outcome:
    """Convert a damaged batch script."""
    content = data.draw(grammars.damaged_text(CONTENTS["slurm/*.sbatch"]))
    return readers.convert(convert_batch_scripts, "job.sbatch", content)


def asked_job(data: st.DataObject) -> Outcome:
    """Make a job of any words and options."""
    known = st.sampled_from(["", "gpu", "openmpi", "torchrun", "team-nlp", "dev"])
    runtime, queue, namespace, priority = (data.draw(known | grammars.texts) for _ in range(4))
    nodes = data.draw(st.sampled_from([0, 1, 2, 10**40]) | st.integers(0, 300))
    gpus = data.draw(st.none() | st.sampled_from([0, 1, 8, 10**40]))
    words = tuple(data.draw(grammars.words))
    return readers.job(Asked(words or ("x",), runtime, nodes, gpus, queue, namespace, priority))


def host_answer(data: st.DataObject) -> Outcome:
    """Write a comment on a host with spoilt answers."""
    which = data.draw(st.sampled_from(["github", "gitlab"]))
    written = [json.dumps(each).encode() for each in readers.answers()[which]]
    number = data.draw(st.integers(0, len(written) - 1))
    content = written[number]
    written[number] = data.draw(
        grammars.as_json([json.loads(content)]) | grammars.damaged_text([content])
    )
    return readers.comment(which, written)


def lockfile(data: st.DataObject) -> Outcome:
    """Read a spoilt or damaged lockfile."""
    return readers.lockfile(
        data.draw(grammars.as_json(LOCKS) | grammars.damaged_text(CONTENTS["locks"]))
    )


def waivers(data: st.DataObject) -> Outcome:
    """Check a platform with spoilt waivers."""
    seed = data.draw(st.sampled_from(WAIVERS))
    return check_platform(seed, data.draw(grammars.as_json([seed.body])))


def component(data: st.DataObject) -> Outcome:
    """Check a platform with a spoilt or damaged file of a component."""
    seed = data.draw(st.sampled_from(COMPONENTS))
    bodies = parse_manifests(seed.content.decode())
    content = data.draw(grammars.as_json(bodies) | grammars.damaged_text([seed.content]))
    return check_platform(seed, content)


def _shortened(lock: dict[str, Any]) -> dict[str, Any]:
    """Return a lock with few entries of each list, so that edits meet all kinds of them."""
    return {
        key: dict(list(value.items())[:2]) if isinstance(value, dict) else value
        for key, value in lock.items()
    } | {key: value[:2] for key, value in lock.items() if isinstance(value, list)}


def _contents() -> dict[str, list[bytes]]:
    """Return the committed cases by pattern, and the lockfiles of the tree."""
    patterns = ("mpijob/*.yaml", "sagemaker/*.json", "sagemaker/*.py.txt", "slurm/*.sbatch")
    found = {
        pattern: [path.read_bytes() for path in sorted(CASES.glob(pattern.replace("/", "/cases/")))]
        for pattern in patterns
    }
    return {**found, "locks": [path.read_bytes()[:3000] for path in LOCKFILES]}


CASES = ROOT / "tests" / "jobs" / "convert"
LOCKFILES = sorted((ROOT / "overlays").glob("*/trainyard.lock"))
CONTENTS = _contents()
MPIJOBS = [
    body
    for content in CONTENTS["mpijob/*.yaml"]
    for body in read_handwritten("x", content, content.decode()).value
]
TRAINING_JOBS = [json.loads(content) for content in CONTENTS["sagemaker/*.json"]]
LOCKS = [_shortened(json.loads(path.read_bytes())) for path in LOCKFILES]
WAIVERS = [seed for seed in SEEDS if seed.path == "waivers.yaml"]
COMPONENTS = [seed for seed in SEEDS if seed.path.startswith("components/")]
PROPERTIES: tuple[Property, ...] = (
    edited_platform,
    damaged_platform,
    damaged_file,
    raw_bytes,
    handed_job,
    damaged_job,
    jobs_dump,
    mpijob,
    training_job,
    estimator,
    batch_script,
    asked_job,
    host_answer,
    lockfile,
    waivers,
    component,
)


def run(target: Property, examples: int, *, repeatable: bool) -> Counter[Outcome]:
    """Try a property with a number of inputs, and return the count of each outcome.

    Args:
        target: the property.
        examples: number of inputs; fewer are tried if there are no more.
        repeatable: whether each call tries the same inputs.

    Raises:
        Exception: raised by the target; Hypothesis adds the smallest such input as a note.
    """
    seen: Counter[Outcome] = Counter()

    checks = list(HealthCheck)

    @settings(
        max_examples=examples,
        derandomize=repeatable,
        deadline=None,
        database=None,
        suppress_health_check=checks,
    )
    @given(st.data())
    def once(data: st.DataObject) -> None:
        # Other work makes the time on the clock longer, and not that of the processor.
        begin = time.process_time()
        seen[target(data)] += 1
        assert time.process_time() - begin < _SLOW

    once()
    return seen
