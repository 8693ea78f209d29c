"""Programs of `examples/training` in the pods of their runtimes: trained, evicted, resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.image import training
from tests.e2e.network import Network
from tests.e2e.ranks import RANKS_PER_NODE
from tests.e2e.training import NODES, Example, Run
from trainyard.golang import cache_folder

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("ranks")]
RANKS = NODES * RANKS_PER_NODE

_STEPS = "--steps=100"
MakeRun = Callable[..., Run]


@pytest.fixture
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeRun]:
    """Return a function that starts the job of an example; all its runs share a mount."""
    name = request.param
    (mount := tmp_path / "scratch").mkdir()
    mount.chmod(0o2777)
    image = training(cache_folder(), torch=name != "intel_mpi")
    example = Example(name, image, mount, tmp_path)
    runs: list[tuple[Network, Run]] = []

    def make(*options: str) -> Run:
        network = Network()
        runs.append((network, Run([], None)))  # type: ignore[arg-type]
        runs[-1] = (network, example.run(network, len(runs), *options))
        return runs[-1][1]

    yield make
    for network, each in runs:
        each.kill()
        network.close()


programs = pytest.mark.parametrize(
    "run",
    [
        "intel_mpi",
        pytest.param("finetune", marks=pytest.mark.slow),
        pytest.param("grpo", marks=pytest.mark.slow),
        pytest.param("torchrun_ddp", marks=pytest.mark.slow),
    ],
    indirect=True,
)


@programs
def test_evicted_job_ends_with_the_loss_of_an_uninterrupted_one(run: MakeRun) -> None:
    """Both losses agree, and the evicted job begins again where it was.

    The last digits may differ: floats are added in no fixed order.
    """
    whole = run("--checkpoints=/mnt/scratch/whole", _STEPS)
    assert whole.end() == 0, whole.log
    (loss,) = whole.found(r"rank 0 of 4 on \S+: finished: 100 steps, loss (-?[\d.]+)")

    evicted = run("--delay=0.05", _STEPS)
    codes = evicted.evict("step 50 loss")
    assert 0 not in codes, evicted.log
    (step,) = evicted.found(r"evicted: step (\d+) is saved")
    assert 50 <= int(step) < 100

    resumed = run(_STEPS)
    assert resumed.end() == 0, resumed.log
    assert len(resumed.found(rf"rank \d of 4 on \S+: starts at step {step}\b")) == RANKS
    (resumed_loss,) = resumed.found(r"finished: 100 steps, loss (-?[\d.]+)")
    assert float(resumed_loss) == pytest.approx(float(loss), rel=1e-5)


@programs
def test_failing_rank_ends_the_job(run: MakeRun) -> None:
    """Rank 0 can't write its checkpoint, and the ranks that wait for it end too."""
    failed = run("--checkpoints=/proc/none")

    assert failed.end() not in {0, None}, failed.log
    assert failed.found("(?:PermissionError|FileNotFoundError)"), failed.log
