"""Train a small network with DistributedDataParallel, started by torchrun.

An evicted job goes on from its checkpoint and ends with the loss of an uninterrupted one.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import job
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

FEATURES, ROWS, SEED = 16, 1024, 7


def batch(step: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return this rank's rows of a step.

    Only the seed and the step decide the data, so a resumed job sees what it would have seen, on
    any number of ranks that divides the rows.
    """
    source = torch.Generator().manual_seed(SEED + step)
    inputs = torch.randn(ROWS, FEATURES, generator=source)
    targets = torch.sin(inputs.sum(dim=1, keepdim=True) / 2)
    rows = slice(job.RANK, None, job.SIZE)
    return inputs[rows].to(device), targets[rows].to(device)


def on_any_rank(flag: bool, device: torch.device) -> bool:
    """Return whether the flag is set on some rank; the answer is the same on all."""
    flags = torch.tensor([float(flag)], device=device)
    dist.all_reduce(flags, op=dist.ReduceOp.MAX)
    return bool(flags.item())


class Training:
    """The network with its optimizer, and the step that comes next."""

    def __init__(self, file: Path, device: torch.device) -> None:
        torch.manual_seed(SEED)
        self.file, self.device, self.step = file, device, 0
        network = nn.Sequential(nn.Linear(FEATURES, 64), nn.Tanh(), nn.Linear(64, 1)).to(device)
        if file.exists():
            found = torch.load(file, map_location=device)
            network.load_state_dict(found["network"])
        self.network = DistributedDataParallel(network)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=0.01)
        if file.exists():
            self.optimizer.load_state_dict(found["optimizer"])
            self.step = found["step"]

    def save(self) -> None:
        """Write the checkpoint; every rank returns when it is there."""
        state = {
            "step": self.step,
            "network": self.network.module.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }
        if job.RANK == 0:
            job.save(self.file, lambda file: torch.save(state, file))
        dist.barrier()

    def advance(self) -> float:
        """Take one step and return this rank's loss."""
        inputs, targets = batch(self.step, self.device)
        loss = nn.functional.mse_loss(self.network(inputs), targets)
        self.optimizer.zero_grad()
        loss.backward()  # averages the gradients of all ranks
        self.optimizer.step()
        self.step += 1
        return float(loss)


def main() -> int:
    """Train to the last step or to an eviction, and return the exit code."""
    chosen, eviction = job.options(__doc__), job.Eviction()
    use_gpu = torch.cuda.is_available()
    device = torch.device("cuda", job.LOCAL_RANK) if use_gpu else torch.device("cpu")
    if use_gpu:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if use_gpu else "gloo")
    training = Training(chosen.checkpoints / "torchrun.pt", device)
    job.log(f"starts at step {training.step} on {device}")
    while training.step < chosen.steps:
        loss = training.advance()
        time.sleep(chosen.delay)
        if on_any_rank(eviction.begun, device):
            training.save()
            job.log_once(f"evicted: step {training.step} is saved")
            return job.EVICTED
        if training.step % chosen.save_every == 0:
            training.save()
            job.log_once(f"step {training.step} loss {loss:.6f}")
    training.save()
    inputs, targets = batch(-1, device)
    with torch.no_grad():
        sum_of_losses = nn.functional.mse_loss(training.network(inputs), targets)
    dist.all_reduce(sum_of_losses)
    job.log_once(f"finished: {training.step} steps, loss {sum_of_losses.item() / job.SIZE:.9f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
