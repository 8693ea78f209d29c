"""Fit a linear model with mpi4py and numpy, started by Intel MPI or Open MPI.

An evicted job goes on from its checkpoint and ends with the loss of an uninterrupted one.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import job
import numpy as np
from mpi4py import MPI

FEATURES, ROWS, SEED = 32, 4096, 7
RATE, MOMENTUM = 0.05, 0.9
WORLD = MPI.COMM_WORLD


def batch(step: int) -> tuple[Any, Any]:
    """Return this rank's rows of a step.

    Only the seed and the step decide the data, so a resumed job sees what it would have seen, on
    any number of ranks.
    """
    source = np.random.default_rng((SEED, step))
    inputs = source.normal(size=(ROWS, FEATURES))
    noise = source.normal(scale=0.1, size=ROWS)
    targets = inputs @ np.linspace(-1, 1, FEATURES) + noise
    return inputs[job.RANK :: job.SIZE], targets[job.RANK :: job.SIZE]


class Training:
    """The weights with their momentum, and the step that comes next."""

    def __init__(self, file: Path) -> None:
        self.file, self.step, self.loss = file, 0, float("nan")
        self.weights, self.momentum = np.zeros(FEATURES), np.zeros(FEATURES)
        if file.exists():
            with np.load(file) as found:
                self.step, self.loss = int(found["step"]), float(found["loss"])
                self.weights, self.momentum = found["weights"], found["momentum"]

    def save(self) -> None:
        """Write the checkpoint; every rank returns when it is there."""
        state = {
            "step": self.step,
            "loss": self.loss,
            "weights": self.weights,
            "momentum": self.momentum,
        }
        if job.RANK == 0:
            job.save(self.file, lambda file: np.savez(file, **state))
        WORLD.Barrier()

    def advance(self, flag: bool) -> bool:
        """Take one step; return whether the flag is set on some rank, the same on all."""
        inputs, targets = batch(self.step)
        errors = inputs @ self.weights - targets
        # One message carries the gradient, the loss and the flag.
        sums = np.array([*(inputs.T @ errors), errors @ errors, float(flag)])
        WORLD.Allreduce(MPI.IN_PLACE, sums)
        *gradient, loss, flags = sums
        self.momentum = MOMENTUM * self.momentum + np.array(gradient) / ROWS
        self.weights = self.weights - RATE * self.momentum
        self.loss = loss / ROWS
        self.step += 1
        return bool(flags)


def main() -> int:
    """Train to the last step or to an eviction, and return the exit code."""
    chosen, eviction = job.options(__doc__), job.Eviction()
    training = Training(chosen.checkpoints / "intel-mpi.npz")
    job.log(f"starts at step {training.step}")
    while training.step < chosen.steps:
        time.sleep(chosen.delay)
        if training.advance(eviction.begun):
            training.save()
            job.log_once(f"evicted: step {training.step} is saved")
            return job.EVICTED
        if training.step % chosen.save_every == 0:
            training.save()
            job.log_once(f"step {training.step} loss {training.loss:.6f}")
    training.save()
    job.log_once(f"finished: {training.step} steps, loss {training.loss:.9f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
