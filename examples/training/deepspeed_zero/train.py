"""Train a small network with DeepSpeed, whose ranks share the optimizer's state (ZeRO, stage 1).

Started by mpirun. Each rank writes its part of the checkpoint into a folder of its step, and only
then rank 0 names that folder as the one to go on from. An evicted job ends with the loss of an
uninterrupted one.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from typing import Any

import deepspeed
import job
import torch
import torch.distributed as dist
from torch import Tensor, nn

FEATURES, ROWS, SEED = 16, 1024, 7


def settings() -> dict[str, Any]:
    """Return DeepSpeed's configuration."""
    return {
        "train_micro_batch_size_per_gpu": ROWS // job.SIZE,
        "optimizer": {"type": "Adam", "params": {"lr": 0.01, "torch_adam": True}},
        "zero_optimization": {"stage": 1},
    }


def batch(step: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return this rank's rows of a step.

    Only the seed and the step decide the data, so a resumed job sees what it would have seen.
    """
    source = torch.Generator().manual_seed(SEED + step)
    inputs = torch.randn(ROWS, FEATURES, generator=source)
    targets = torch.sin(inputs.sum(dim=1, keepdim=True) / 2)
    rows = slice(job.RANK, None, job.SIZE)
    return inputs[rows].to(device), targets[rows].to(device)


class Training:
    """DeepSpeed's engine, and the step that comes next."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        torch.manual_seed(SEED)
        self.folder, self.latest = chosen.checkpoints, chosen.checkpoints / "latest-whole"
        network = nn.Sequential(nn.Linear(FEATURES, 64), nn.Tanh(), nn.Linear(64, 1))
        self.engine, *_ = deepspeed.initialize(
            model=network, model_parameters=network.parameters(), config=settings()
        )
        self.step = 0
        if self.latest.exists():
            # The number of ranks must be that of the checkpoint: each reads its own part.
            _, found = self.engine.load_checkpoint(str(self.folder), tag=self.latest.read_text())
            self.step = found["step"]

    def save(self) -> None:
        """Write the checkpoint; every rank returns when it is there."""
        tag = f"step-{self.step}"
        state = {"step": self.step}
        self.engine.save_checkpoint(str(self.folder), tag, state, save_latest=False)
        dist.barrier()
        if job.RANK == 0:
            job.save(self.latest, lambda file: file.write(tag.encode()))
            for old in self.folder.glob("step-*"):
                if old.name != tag:
                    shutil.rmtree(old)
        dist.barrier()

    def loss(self, step: int) -> Tensor:
        """Return the loss of this rank's rows of a step."""
        inputs, targets = batch(step, self.engine.device)
        return nn.functional.mse_loss(self.engine(inputs), targets)

    def advance(self, flag: bool) -> tuple[float, bool]:
        """Take one step; return this rank's loss, and whether the flag is set on some rank."""
        loss = self.loss(self.step)
        self.engine.backward(loss)  # averages the gradients of all ranks
        self.engine.step()
        self.step += 1
        flags = torch.tensor([float(flag)], device=self.engine.device)
        dist.all_reduce(flags)
        return float(loss), bool(flags.item())


def main() -> int:
    """Train to the last step or to an eviction, and return the exit code."""
    chosen, eviction = job.options(__doc__), job.Eviction()
    job.rendezvous()
    deepspeed.init_distributed("nccl" if torch.cuda.is_available() else "gloo")
    training = Training(chosen)
    job.log(f"starts at step {training.step} on {training.engine.device}")
    while training.step < chosen.steps:
        loss, evicted = training.advance(eviction.begun)
        time.sleep(chosen.delay)
        if evicted or training.step % chosen.save_every == 0:
            training.save()
            job.log_once(f"step {training.step} loss {loss:.6f}")
        if evicted:
            job.log_once(f"evicted: step {training.step} is saved")
            return job.EVICTED
    training.save()
    with torch.no_grad():
        total = training.loss(-1)
    dist.all_reduce(total)
    job.log_once(f"finished: {training.step} steps, loss {float(total) / job.SIZE:.9f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
