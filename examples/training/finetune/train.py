"""Fine-tune a small language model on a text, started by torchrun.

The runtime's steps have fetched text and model before the ranks start, and export the result after
a job that ends with 0. An evicted job goes on from its checkpoint, and nothing is exported.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import job
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

WORKSPACE = Path("/workspace")
"""Volume that the ranks share with the runtime's initializers and its export."""
CONTEXT, ROWS, SEED = 16, 256, 7
"""Bytes that the model sees to predict the next one, and rows of a batch over all ranks."""


def language_model() -> nn.Module:
    """Return a network that predicts a byte from those before it."""
    return nn.Sequential(
        nn.Embedding(256, 16),
        nn.Flatten(),
        nn.Linear(16 * CONTEXT, 64),
        nn.Tanh(),
        nn.Linear(64, 256),
    )


def on_any_rank(flag: bool, device: torch.device) -> bool:
    """Return whether the flag is set on some rank; the answer is the same on all."""
    flags = torch.tensor([float(flag)], device=device)
    dist.all_reduce(flags, op=dist.ReduceOp.MAX)
    return bool(flags.item())


class Training:
    """The model with its optimizer, the text, and the step that comes next."""

    def __init__(self, chosen: argparse.Namespace, device: torch.device) -> None:
        self.file, self.device, self.step = chosen.checkpoints / "finetune.pt", device, 0
        text = (WORKSPACE / "dataset" / "text.txt").read_bytes()
        self.text = torch.tensor(list(text), device=device)
        model, resumed = language_model().to(device), self.file.exists()
        # The base model only at the first start: the checkpoint has all later weights.
        begin = self.file if resumed else WORKSPACE / "model" / "model.pt"
        found = torch.load(begin, map_location=device)
        model.load_state_dict(found["model"])
        self.model = DistributedDataParallel(model)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.003)
        if resumed:
            self.optimizer.load_state_dict(found["optimizer"])
            self.step = found["step"]

    def loss(self, step: int) -> Tensor:
        """Return the loss of this rank's rows of a step, which only seed and step decide."""
        source = torch.Generator().manual_seed(SEED + step)
        starts = torch.randint(len(self.text) - CONTEXT, (ROWS, 1), generator=source)
        rows = starts[job.RANK :: job.SIZE].to(self.device)
        contexts = self.text[rows + torch.arange(CONTEXT, device=self.device)]
        return nn.functional.cross_entropy(self.model(contexts), self.text[rows[:, 0] + CONTEXT])

    def advance(self) -> None:
        """Take one step."""
        self.optimizer.zero_grad()
        self.loss(self.step).backward()  # averages the gradients of all ranks
        self.optimizer.step()
        self.step += 1

    def save(self) -> None:
        """Write the checkpoint; every rank returns when it is there."""
        self._write(self.file, step=self.step, optimizer=self.optimizer.state_dict())

    def export(self, file: Path) -> float:
        """Write the model without what only training needs; return its loss over all ranks."""
        self._write(file)
        with torch.no_grad():
            total = self.loss(-1)
        dist.all_reduce(total)
        return float(total) / job.SIZE

    def _write(self, file: Path, **more: object) -> None:
        content = {"model": self.model.module.state_dict(), **more}
        if job.RANK == 0:
            job.save(file, lambda opened: torch.save(content, opened))
        dist.barrier()


def main() -> int:
    """Train to the last step or to an eviction, and return the exit code."""
    chosen, eviction = job.options(__doc__), job.Eviction()
    use_gpu = torch.cuda.is_available()
    device = torch.device("cuda", job.LOCAL_RANK) if use_gpu else torch.device("cpu")
    if use_gpu:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if use_gpu else "gloo")
    training = Training(chosen, device)
    job.log(f"starts at step {training.step} on {device}")
    while training.step < chosen.steps:
        training.advance()
        time.sleep(chosen.delay)
        if on_any_rank(eviction.begun, device):
            training.save()
            job.log_once(f"evicted: step {training.step} is saved")
            return job.EVICTED
        if training.step % chosen.save_every == 0:
            training.save()
            with torch.no_grad():
                job.log_once(f"step {training.step} loss {training.loss(training.step):.6f}")
    training.save()
    loss = training.export(WORKSPACE / "output" / "model.pt")
    job.log_once(f"finished: {training.step} steps, loss {loss:.9f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
