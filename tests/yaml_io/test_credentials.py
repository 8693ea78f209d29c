"""What looks like a credential. The examples are put together here, so that no scanner takes this
file for a leak."""

from __future__ import annotations

import base64
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.yaml_io.credentials import find_credentials, masked

REPOSITORY = Path(__file__).parents[2]
BODY = "Ab0" * 20
RANDOM = "q7Xr2Vb9TzKd4Lm8WnHc3Yf6GsJp5Qa1ZeRu0BtXvCkDhMiNoEwSgFyAjPl"
SECRETS = {
    "an AWS access key": "AKIA" + "ABCD0123" * 2,
    "a GitHub token": "ghp_" + BODY,
    "a GitLab token": "glpat-" + BODY,
    "a Hugging Face token": "hf_" + BODY,
    "a Vault token": "hvs." + BODY,
    "an NVIDIA API key": "nvapi-" + BODY,
    "an OpenAI API key": "sk-proj-" + BODY,
    "a Docker Hub token": "dckr_pat_" + BODY,
    "a credential (gitleaks: gcp-api-key)": "AIza" + RANDOM[:35],
    "a credential (gitleaks: openshift-user-token)": "sha256~" + RANDOM[:43],
    "a credential (gitleaks: jwt)": f"eyJ{RANDOM}.eyJ{RANDOM}.{RANDOM}",
    "a credential (gitleaks: slack-bot-token)": "xoxb-1234567890-0987654321-" + RANDOM[:24],
    "a credential (gitleaks: npm-access-token)": "npm_" + RANDOM[:36].lower(),
    "a private key": f"-----BEGIN RSA PRIVATE KEY-----\n  {BODY}\n  {BODY}\n  -----END",
}


def seen(text: str) -> list[tuple[str, str]]:
    """Return the kind and the text of each credential."""
    return [(what, text[start:end]) for start, end, what in find_credentials(text)]


@pytest.mark.parametrize(("what", "secret"), SECRETS.items())
@pytest.mark.parametrize(
    "frame",
    [
        "{}",
        "key: {}\n",
        "a: |\n  {}\n",
        "# {}",
        'url: "https://x/?t={}"',
        "a: [{}, b]",
        "data: {{t: {}}}",
    ],
)
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
        ("# password: hunter2hunter2", "hunter2hunter2"),
        ("nodes: 4  # was: DB_PASSWORD=hunter2hunter2 until May", "hunter2hunter2"),
        ('args: ["--api-key=hunter2hunter2"]', "hunter2hunter2"),
        ("passphrase: changeme", "changeme"),
    ],
)
def test_literal_under_a_key_for_secrets_is_found(line: str, secret: str) -> None:
    """A credential without a form of its own is recognised by its key."""
    assert seen(f"a: 1\n{line}\nb: 2\n") == [("a password or key", secret)]


@pytest.mark.parametrize(
    "address",
    [
        "https://ci:correct@git.example.com/ml.git",
        "repository: ssh://git:x@host",
        "a=//b ftp://u:p@h",
    ],
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
        "# password: changeme",
        "# password: <from vault>, e.g. ml/x1",
        "secretStore: vault-2",
        "path: ml/teams/nlp-2",
        "sha256~",
        "ghp_tokens, hf_transfer and the prefix nvapi- are explained in the docs",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + RANDOM[:43] + " ops@example.com",
        "- 3f2504e0-4f89-41d3-9a0c-0305e82c3301",
        "commit: 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "ca.crt: " + base64.b64encode(b"-----BEGIN CERTIFICATE-----\nMIID" + b"x" * 60).decode(),
    ],
)
def test_what_is_no_credential_is_left_alone(text: str) -> None:
    """Names of secrets, placeholders, and words that only look alike."""
    assert seen(text) == []
    assert masked(text) == text


def test_credential_under_a_key_for_secrets_is_one_finding() -> None:
    """The form is more specific than the key."""
    secret = SECRETS["a GitHub token"]

    assert seen(f"api_key: {secret}\npassword: correct-horse\n") == [
        ("a GitHub token", secret),
        ("a password or key", "correct-horse"),
    ]


@pytest.mark.parametrize("before", ["", "x", "xy"])
@pytest.mark.parametrize(
    "kind", ["RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]
)
@pytest.mark.parametrize("width", [40, 64, 10_000])
def test_private_key_in_base64_is_found(before: str, kind: str, width: int) -> None:
    """As ``binaryData`` has it, or a Secret: on one line or many, wherever it begins in its three
    bytes."""
    text = base64.b64encode(f"{before}-----BEGIN {kind}-----\n{RANDOM * 6}\n".encode()).decode()
    lines = [text[i : i + width] for i in range(0, len(text), width)]
    found = seen("binaryData:\n  id: |\n    " + "\n    ".join(lines) + "\n")

    ((what, secret),) = found
    assert what == "a private key in base64"
    assert len("".join(secret.split())) > len(text) - width - 3


def test_placeholder_of_a_token_is_left_alone() -> None:
    """gitleaks states the least entropy of a token."""
    assert seen("sha256~" + "x" * 43) == []


def test_no_committed_yaml_holds_a_credential() -> None:
    """Profiles, examples, presets, releases and cases: digests, addresses of stores and keys of
    people are none."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "*.yaml"],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
        text=True,
    )
    files = [file for file in listed.stdout.split("\0") if file]

    assert len(files) > 500
    assert [file for file in files if seen((REPOSITORY / file).read_text(encoding="utf-8"))] == []


HOSTILE = (
    *(
        "password:",
        "password: ",
        "{password:",
        "# secret_key=",
        "-",
        "- ",
        "-----BEGIN ",
        "-----BEGIN A PRIVATE KEY",
    ),
    *(
        "LS0tLS1CRUdJTi",
        "LS0tLS1CRUdJTi\n",
        "://a:",
        "://",
        "eyJ",
        "ey.",
        "eyJhbGciOiJIUzI1NiIs.",
        "glc_",
        "ABSK+",
    ),
    *(
        "a",
        "0",
        "a.",
        "atlasv1.",
        "AKIA ",
        "xoxb-1",
        "s.",
        "sk-",
        "https://a.webhook.office.com/",
        "ops_eyJ",
        "_mmk",
    ),
    *(
        "ZXlKaGJHY2lPaU",
        "sntrys_eyJpYXQiO",
        "glpat-a",
        "dp.pt.",
        "SG.",
        "airtable pata",
        "sc_a.b.acc-",
        "Q~1Q~",
    ),
)


@pytest.mark.parametrize("unit", HOSTILE, ids=repr)
def test_hostile_file_is_searched_in_linear_time(unit: str) -> None:
    """The file is as large as a profile may be; no rule reads a part of it again and again."""
    text = (unit * (256 * 1024 // len(unit) + 1))[: 256 * 1024]
    begin = time.process_time()
    list(find_credentials(text))

    assert time.process_time() - begin < 5


def test_thousand_profiles_are_searched_within_a_second() -> None:
    """Rules whose keyword is not in a text are not tried."""
    texts = [
        path.read_text(encoding="utf-8")
        for path in sorted((REPOSITORY / "profiles").rglob("*.yaml"))
    ]
    list(find_credentials(texts[0]))
    begin = time.process_time()
    for i in range(1000):
        list(find_credentials(texts[i % len(texts)]))

    assert time.process_time() - begin < 1


@pytest.mark.parametrize("secret", SECRETS.values())
def test_masked_text_has_the_same_places(secret: str) -> None:
    """Line by line as wide as before, so that a caret still points to the right place; and nothing
    of it is left."""
    text = f"a: 1\nkey: {secret}  # why\nb: 2\n"
    hidden = masked(text)

    assert [len(line) for line in hidden.split("\n")] == [len(line) for line in text.split("\n")]
    assert "Ab0" not in hidden
    assert "ABCD" not in hidden
    assert RANDOM[5:12] not in hidden
    assert hidden.startswith("a: 1\nkey: *")
    assert hidden.endswith("  # why\nb: 2\n")


@given(st.text(alphabet="aA0:/@._-= \n\"'{,", max_size=80))
def test_masking_twice_changes_nothing_more(text: str) -> None:
    """Nothing that is found is left after the first time."""
    assert masked(masked(text)) == masked(text)
    assert len(masked(text)) == len(text)
