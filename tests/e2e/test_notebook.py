"""A function of a notebook trains a model on two nodes: what the SDK makes of it, in real pods."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.image import training
from tests.e2e.network import Network
from tests.e2e.pods import Template
from tests.e2e.ranks import RANKS_PER_NODE
from tests.e2e.training import NODES, Run, torch_pods, torch_template
from tests.pages import USERS, saved
from tests.sdk.test_command import RECORDED
from trainyard.golang import cache_folder
from trainyard_rehearsal.control_plane.sdk import find_sdk

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.xdist_group("ranks")]
RECORD = RECORDED.with_name("record.py")


Start = Callable[[Template], Run]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts the function of the quickstart in two pods."""
    network, runs = Network(), list[Run]()

    def started(template: Template) -> Run:
        image, command = training(cache_folder(), torch=True), command_of("0.5.0", tmp_path)
        pods = torch_pods(network, image, template, tmp_path)
        for pod in pods:
            pod.start(command)
        runs.append(Run(pods, pods[0]))
        return runs[-1]

    yield started
    for run in runs:
        run.kill()
    network.close()


def command_of(sdk: str, folder: Path) -> list[str]:
    """Return what an SDK makes of the function of the quickstart."""
    file = folder / "fit_line.py"
    file.write_text(saved(USERS / "quickstart.md")[file.name], "utf-8")
    done = subprocess.run(
        [sys.executable, str(RECORD), str(file), file.stem],
        env={"PYTHONPATH": str(find_sdk(sdk, cache_folder()))},
        capture_output=True,
        text=True,
        check=True,
    )
    return [str(word) for word in json.loads(done.stdout)]


@pytest.mark.parametrize("sdk", ["0.3.1", "0.5.0"])
def test_the_recorded_command_is_the_sdks(sdk: str, tmp_path: Path) -> None:
    assert command_of(sdk, tmp_path) == json.loads(RECORDED.read_text("utf-8"))


def test_function_trains_one_model_on_two_nodes(start: Start) -> None:
    """As an id without account, which may not write to the image's folders."""
    run = start(torch_template())

    assert run.end() == 0, run.log
    models = sorted(run.found(r"rank \d y = .*"))
    ranks = range(NODES * RANKS_PER_NODE)
    assert models == [f"rank {rank} y = 3.00 x + 1.00" for rank in ranks], run.log


def test_without_the_working_folder_it_can_not_write(start: Start) -> None:
    """What a notebook got before the runtime had one."""
    template = torch_template()
    (container,) = template["containers"]
    (own := dict(container)).pop("workingDir")
    run = start({**template, "containers": [own]})

    assert run.end() != 0
    assert "fit_line.py: Permission denied" in run.log
