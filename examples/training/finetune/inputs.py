"""Write a text and a base model as the runtime's initializers would: both are made by a seed."""

from __future__ import annotations

import random

import torch
from train import SEED, WORKSPACE, language_model  # type: ignore[import-not-found]

SUBJECTS, VERBS = ("the node", "a rank", "the job", "one team"), ("waits for", "starts", "saves")


def main() -> None:
    """Write `dataset/text.txt` and `model/model.pt`."""
    source = random.Random(SEED)  # noqa: S311
    sentences = (
        f"{source.choice(SUBJECTS)} {source.choice(VERBS)} {source.choice(SUBJECTS)}.\n"
        for _ in range(500)
    )
    for folder in ("dataset", "model"):
        (WORKSPACE / folder).mkdir(parents=True, exist_ok=True)
    (WORKSPACE / "dataset" / "text.txt").write_text("".join(sentences), "utf-8")
    torch.manual_seed(SEED)
    torch.save({"model": language_model().state_dict()}, WORKSPACE / "model" / "model.pt")


if __name__ == "__main__":
    main()
