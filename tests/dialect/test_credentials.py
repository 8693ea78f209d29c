"""What looks like a credential. The examples are put together here, so that no scanner takes this file for a leak."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.dialect.credentials import find_credentials, masked

BODY = "Ab0" * 20
SECRETS = {
    "an AWS access key": "AKIA" + "ABCD0123" * 2,
    "a GitHub token": "ghp_" + BODY,
    "a GitLab token": "glpat-" + BODY,
    "a Hugging Face token": "hf_" + BODY,
    "a Slack token": "xoxb-" + BODY,
    "a Vault token": "hvs." + BODY,
    "a signed token": f"eyJ{BODY}.eyJ{BODY}.{BODY}",
    "a private key": f"-----BEGIN RSA PRIVATE KEY-----\n  {BODY}\n  {BODY}\n  -----END",
}


def seen(text: str) -> list[tuple[str, str]]:
    """Return what is found: what it looks like, and the text of it."""
    return [(what, text[start:end]) for start, end, what in find_credentials(text)]


@pytest.mark.parametrize(("what", "secret"), SECRETS.items())
@pytest.mark.parametrize("frame", ["{}", "key: {}\n", "a: |\n  {}\n", "# {}", 'url: "https://x/?t={}"'])
def test_shape_is_found_wherever_it_stands(what: str, secret: str, frame: str) -> None:
    """Under any key, in a block, in a comment: exactly it, and nothing around it."""
    assert seen(frame.format(secret)) == [(what, secret)]


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ("password: correct-horse", "correct-horse"),
        ("  db_password: 'correct-horse'", "correct-horse"),
        ('data: {"admin.passwd": "correct-horse"}', "correct-horse"),
        ("    aws_secret_access_key = correct/horse+", "correct/horse+"),
        ("WANDB_API_KEY=0123456789abcdef", "0123456789abcdef"),
        ("- client-secret: correct-horse", "correct-horse"),
        ("auth_token: correct-horse", "correct-horse"),
    ],
)
def test_literal_under_a_telling_key_is_found(line: str, secret: str) -> None:
    """What has no shape of its own is known by the key that it stands under."""
    assert seen(f"a: 1\n{line}\nb: 2\n") == [("a password or key", secret)]


@pytest.mark.parametrize(
    "address", ["https://ci:correct@git.example.com/ml.git", "repository: ssh://git:x@host", "a=//b ftp://u:p@h"]
)
def test_password_in_an_address_is_found(address: str) -> None:
    """The user may be named, the password not."""
    ((what, _),) = seen(address)

    assert what == "a password in an address"


@pytest.mark.parametrize(
    "text",
    [
        "repository: ssh://git@git.example.com:2222/ml/platform.git",
        "endpoint: https://s3.example.com:443",
        "url: https://$USER:$PASSWORD@host and https://<user>:<password>@host",
        "secretStoreRef: {kind: ClusterSecretStore, name: vault-backend}",
        "- secretKey: AWS_SECRET_ACCESS_KEY",
        "remoteRef: {key: ml/teams/nlp/x, property: password}",
        "password: '{{ .password }}'",
        "password: ${PASSWORD}",
        "api_key: |",
        "password: ''",
        "max_tokens: 4096",
        "tokenizer: meta-llama/tokenizer",
        "pad_token: <pad>",
        "image: registry.example.com/ml/x@sha256:" + "a" * 64,
        "password_file: /run/secrets/password",
        "# password: whatever the owner says",
    ],
)
def test_what_is_no_credential_is_left_alone(text: str) -> None:
    """Names of secrets, placeholders, and words that only look alike."""
    assert seen(text) == []
    assert masked(text) == text


def test_credential_under_a_telling_key_is_one_finding() -> None:
    """The shape says more than the key."""
    secret = SECRETS["a GitHub token"]

    assert seen(f"api_key: {secret}\npassword: correct-horse\n") == [
        ("a GitHub token", secret),
        ("a password or key", "correct-horse"),
    ]


@pytest.mark.parametrize("secret", SECRETS.values())
def test_masked_text_has_the_same_places(secret: str) -> None:
    """Line by line as wide as before, so that a caret still points to the right place; and nothing of it is left."""
    text = f"a: 1\nkey: {secret}  # why\nb: 2\n"
    hidden = masked(text)

    assert [len(line) for line in hidden.split("\n")] == [len(line) for line in text.split("\n")]
    assert "Ab0" not in hidden
    assert "ABCD" not in hidden
    assert hidden.startswith("a: 1\nkey: *")
    assert hidden.endswith("  # why\nb: 2\n")


@given(st.text(alphabet="aA0:/@._-= \n\"'{,", max_size=80))
def test_masking_twice_changes_nothing_more(text: str) -> None:
    """Nothing that is found is left after the first time."""
    assert masked(masked(text)) == masked(text)
    assert len(masked(text)) == len(text)
