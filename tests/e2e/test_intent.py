"""The promises that packets are compared with are read from profiles and releases of today."""

from __future__ import annotations

from tests.e2e.intent import DNS, INTERNET, OUTSIDER, intent, job_policies


def test_matrix_has_every_kind_of_endpoint() -> None:
    """Jobs, workbenches, controllers, an outsider, and hosts on both sides of a range."""
    names = [each.name for each in intent("prod-east").endpoints()]

    assert len(names) == len(set(names))
    assert {
        "team-nlp-rank-a0",
        "team-nlp-bench-0",
        OUTSIDER,
        DNS,
        "trainer",
        "redhat-ods-applications",
    } < set(names)
    assert {"api-server-0", "api-server-0-next", INTERNET} < set(names)


def test_jobs_are_isolated_where_trainer_does_it() -> None:
    """OpenShift AI's Trainer writes a policy for each job, and upstream's none."""
    assert [*job_policies(intent("prod-east"))]
    assert not [*job_policies(intent("lab"))]
