"""Train a small network with Horovod and PyTorch, started by mpirun.

An evicted job goes on from its checkpoint and ends with the loss of an uninterrupted one.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import horovod.torch as hvd
import job
import torch
from torch import Tensor, nn

FEATURES, ROWS, SEED = 16, 1024, 7


def batch(step: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return this rank's rows of a step.

    Only the seed and the step decide the data, so a resumed job sees what it would have seen, on
    any number of ranks that divides the rows.
    """
    source = torch.Generator().manual_seed(SEED + step)
    inputs = torch.randn(ROWS, FEATURES, generator=source)
    targets = torch.sin(inputs.sum(dim=1, keepdim=True) / 2)
    rows = slice(hvd.rank(), None, hvd.size())
    return inputs[rows].to(device), targets[rows].to(device)


class Training:
    """The network with its optimizer, and the step that comes next."""

    def __init__(self, file: Path, device: torch.device) -> None:
        torch.manual_seed(SEED)
        self.file, self.device, self.step = file, device, 0
        layers = nn.Linear(FEATURES, 64), nn.Tanh(), nn.Linear(64, 1)
        self.network = nn.Sequential(*layers).to(device)
        # Averages the gradients of all ranks while they are computed.
        self.optimizer = hvd.DistributedOptimizer(
            torch.optim.Adam(self.network.parameters(), lr=0.01),
            named_parameters=self.network.named_parameters(),
        )
        if file.exists():
            found = torch.load(file, map_location=device)
            self.network.load_state_dict(found["network"])
            # Only now: Horovod makes an optimizer of its own, without the state of the given one.
            self.optimizer.load_state_dict(found["optimizer"])
            self.step = found["step"]

    def save(self) -> None:
        """Write the checkpoint; every rank returns when it is there."""
        state = {
            "step": self.step,
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }
        if hvd.rank() == 0:
            job.save(self.file, lambda file: torch.save(state, file))
        hvd.barrier()

    def advance(self) -> float:
        """Take one step and return this rank's loss."""
        inputs, targets = batch(self.step, self.device)
        loss = nn.functional.mse_loss(self.network(inputs), targets)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.step += 1
        return float(loss)


def main() -> int:
    """Train to the last step or to an eviction, and return the exit code."""
    chosen, eviction = job.options(__doc__), job.Eviction()
    hvd.init()
    use_gpu = torch.cuda.is_available()
    device = torch.device("cuda", hvd.local_rank()) if use_gpu else torch.device("cpu")
    if use_gpu:
        torch.cuda.set_device(device)
    training = Training(chosen.checkpoints / "horovod.pt", device)
    job.log(f"starts at step {training.step} on {device}")
    while training.step < chosen.steps:
        loss = training.advance()
        time.sleep(chosen.delay)
        # All ranks stop at the same step, or those that go on would wait for the others.
        if hvd.allreduce(torch.tensor(float(eviction.begun)), op=hvd.Sum, name="evicted") > 0:
            training.save()
            job.log_once(f"evicted: step {training.step} is saved")
            return job.EVICTED
        if training.step % chosen.save_every == 0:
            training.save()
            job.log_once(f"step {training.step} loss {loss:.6f}")
    training.save()
    inputs, targets = batch(-1, device)
    with torch.no_grad():
        loss = hvd.allreduce(nn.functional.mse_loss(training.network(inputs), targets))
    job.log_once(f"finished: {training.step} steps, loss {float(loss):.9f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
