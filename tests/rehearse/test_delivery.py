"""What stands between Argo CD and a control plane, each by itself."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path
from threading import Thread

import pytest

from generator.diagnostics import ToolError
from generator.rehearse.redis import fetch_redis, find_redis
from generator.rehearse.repository import Repository
from generator.rehearse.tunnel import tunnel


def test_a_commit_is_what_the_repository_serves(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "git", "main")
    repository.create()
    first = repository.commit({"a/b.yaml": b"one\n", "c.yaml": b"two\n"})
    second = repository.commit({"a/b.yaml": None})
    said = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "refs/heads/main"],
        cwd=tmp_path / "git" / "platform.git",
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == "c.yaml\n"
    assert repository.address.startswith("file:///")
    assert first != second


def test_git_tells_why_it_refuses(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "git", "main")
    repository.create()
    repository.commit({"a.yaml": b"one\n"})
    with pytest.raises(ToolError, match="git commit"):
        repository.commit({"a.yaml": b"one\n"})


def test_the_tunnel_leads_any_address_to_one_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        Thread(target=_echo, args=(server,), daemon=True).start()
        with tunnel(server.getsockname()[1]) as proxy, socket.create_connection(("127.0.0.1", proxy), 10) as link:
            link.sendall(b"CONNECT lab.example.com:6443 HTTP/1.1\r\nHost: lab.example.com:6443\r\n\r\n")
            assert link.recv(100) == b"HTTP/1.1 200 OK\r\n\r\n"
            link.sendall(b"hello")
            assert link.recv(100) == b"hello"


def _echo(server: socket.socket) -> None:
    link, _ = server.accept()
    with link:
        link.sendall(link.recv(100))


def test_without_redis_the_way_to_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"install `redis-server`.*--build"):
        find_redis(tmp_path)
    with pytest.raises(ToolError, match="there is no `apt-get` here"):
        fetch_redis(tmp_path, print)


def test_the_machines_redis_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    fetch_redis(tmp_path / "cache", pytest.fail)
    assert find_redis(tmp_path / "cache").program == program
