"""Names of images."""

from __future__ import annotations

import pytest

from trainyard_jobs.convert.image import full, profile_name, repository


@pytest.mark.parametrize(
    ("image", "whole", "without", "name"),
    [
        ("horovod", "docker.io/library/horovod", "docker.io/library/horovod", "horovod"),
        ("a/b:1", "docker.io/a/b:1", "docker.io/a/b", "b"),
        ("docker.io/a/b", "docker.io/a/b", "docker.io/a/b", "b"),
        ("host:5000/a/b_C:x", "host:5000/a/b_C:x", "host:5000/a/b_C", "b-c"),
        ("localhost/9", "localhost/9", "localhost/9", "converted"),
        (
            "quay.io/a/mpi-4@sha256:00",
            "quay.io/a/mpi-4@sha256:00",
            "quay.io/a/mpi-4",
            "mpi",
        ),
    ],
)
def test_image_has_a_registry_a_repository_and_a_name(
    image: str, whole: str, without: str, name: str
) -> None:
    assert (full(image), repository(image), profile_name(image)) == (whole, without, name)


def test_no_image_has_no_repository() -> None:
    assert repository("") == ""
