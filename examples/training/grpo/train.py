"""Teach a small policy to add by GRPO (group relative policy optimization), started by mpirun.

The policy sees two numbers below 5 and answers with the two digits of their sum; the reward is the
share of right digits. The advantage of an answer is how much better it is than the other answers to
its question. The objective is clipped, with a penalty for leaving the reference.
An evicted job goes on from its checkpoint and ends with the loss of an uninterrupted one.
"""

from __future__ import annotations

import argparse
import sys
import time

import job
import torch
import torch.distributed as dist
from torch import Tensor, nn

NUMBERS, DIGITS, LENGTH, SEED = 5, 10, 2, 7
QUESTIONS, GROUP, PASSES, CLIP, PENALTY = 64, 16, 2, 0.2, 0.01
"""Questions of a step over all ranks, answers to each, and updates with the same answers."""


def policy() -> nn.Module:
    """Return a network that reads a question and an answer's beginning, and scores digits."""
    words = 2 * NUMBERS + DIGITS + LENGTH
    return nn.Sequential(nn.Linear(words, 64), nn.Tanh(), nn.Linear(64, DIGITS))


def scores(model: nn.Module, questions: Tensor, answers: Tensor, place: int) -> Tensor:
    """Return the log-probability of each digit at a place of the answers."""
    before = answers[:, 0] * place
    parts = [
        nn.functional.one_hot(questions, NUMBERS).flatten(1),
        nn.functional.one_hot(before, DIGITS) * place,
        nn.functional.one_hot(torch.full_like(before, place), LENGTH),
    ]
    return nn.functional.log_softmax(model(torch.cat(parts, dim=1).float()), dim=1)


def chances(model: nn.Module, questions: Tensor, answers: Tensor) -> Tensor:
    """Return the log-probability of each digit that was answered."""
    scored = [scores(model, questions, answers, place) for place in range(LENGTH)]
    return torch.stack(scored, dim=1).gather(2, answers.unsqueeze(2)).squeeze(2)


def sample(model: nn.Module, step: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return this rank's questions, each GROUP times, and answers, by seed, step and rank."""
    source = torch.Generator().manual_seed((SEED + step) * job.SIZE + job.RANK)
    questions = torch.randint(NUMBERS, (QUESTIONS // job.SIZE, 2), generator=source)
    questions = questions.repeat_interleave(GROUP, dim=0)
    answers = torch.zeros_like(questions)
    for place in range(LENGTH):
        odds = scores(model, questions.to(device), answers.to(device), place).exp().cpu()
        answers[:, place] = torch.multinomial(odds, 1, generator=source)[:, 0]
    return questions.to(device), answers.to(device)


def rewards(questions: Tensor, answers: Tensor) -> Tensor:
    """Return the share of right digits of each answer."""
    total = questions.sum(dim=1, keepdim=True)
    return (answers == torch.cat([total // 10, total % 10], dim=1)).float().mean(dim=1)


def average_gradients(model: nn.Module) -> None:
    """Give each rank the average of all: one message for all parameters, not one for each."""
    gradients = [parameter.grad for parameter in model.parameters()]
    dist.all_reduce(total := nn.utils.parameters_to_vector(gradients))
    nn.utils.vector_to_parameters(total / job.SIZE, gradients)


class Training:
    """The policy, what it may not leave far, its optimizer, and the step that comes next."""

    def __init__(self, chosen: argparse.Namespace, device: torch.device) -> None:
        torch.manual_seed(SEED)
        self.file, self.device, self.step = chosen.checkpoints / "grpo.pt", device, 0
        self.loss = self.reward = 0.0
        self.policy, self.reference = policy().to(device), policy().to(device)
        self.reference.load_state_dict(self.policy.state_dict())
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=0.003)
        if self.file.exists():
            found = torch.load(self.file, map_location=device)
            self.policy.load_state_dict(found["policy"])
            self.optimizer.load_state_dict(found["optimizer"])
            self.step, self.loss, self.reward = found["result"]

    def advance(self, flag: bool) -> bool:
        """Take one step; return whether the flag is set on some rank, the same on all."""
        with torch.no_grad():
            questions, answers = sample(self.policy, self.step, self.device)
            old = chances(self.policy, questions, answers)
            reference = chances(self.reference, questions, answers)
        reward = rewards(questions, answers)
        groups = reward.view(-1, GROUP)
        spread = groups.std(dim=1, keepdim=True) + 1e-4
        advantage = ((groups - groups.mean(dim=1, keepdim=True)) / spread).view(-1, 1)
        for _ in range(PASSES):
            new = chances(self.policy, questions, answers)
            ratio = (new - old).exp()
            gain = torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage)
            apart = (reference - new).exp() - (reference - new) - 1  # estimates the divergence
            loss = (PENALTY * apart - gain).mean()
            self.optimizer.zero_grad()
            loss.backward()
            average_gradients(self.policy)
            self.optimizer.step()
        self.step += 1
        sums = torch.stack([loss.detach(), reward.mean(), torch.tensor(float(flag)).to(loss)])
        dist.all_reduce(sums)
        self.loss, self.reward, flags = (sums / job.SIZE).tolist()
        return bool(flags)

    def save(self) -> None:
        """Write the checkpoint; every rank returns when it is there."""
        state = {"policy": self.policy.state_dict(), "optimizer": self.optimizer.state_dict()}
        state["result"] = self.step, self.loss, self.reward
        if job.RANK == 0:
            job.save(self.file, lambda file: torch.save(state, file))
        dist.barrier()


def main() -> int:
    """Train to the last step or to an eviction, and return the exit code."""
    chosen, eviction = job.options(__doc__), job.Eviction()
    job.rendezvous()
    use_gpu = torch.cuda.is_available()
    device = torch.device("cuda", job.LOCAL_RANK) if use_gpu else torch.device("cpu")
    if use_gpu:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if use_gpu else "gloo")
    training = Training(chosen, device)
    job.log(f"starts at step {training.step} on {device}")
    while training.step < chosen.steps:
        evicted = training.advance(eviction.begun)
        time.sleep(chosen.delay)
        if evicted or training.step % chosen.save_every == 0:
            training.save()
            job.log_once(f"step {training.step} loss {training.loss:.6f} {training.reward:.0%}")
        if evicted:
            job.log_once(f"evicted: step {training.step} is saved")
            return job.EVICTED
    training.save()
    job.log_once(f"finished: {training.step} steps, loss {training.loss:.9f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
