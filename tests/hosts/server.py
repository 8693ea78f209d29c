"""The requests of GitHub's and GitLab's APIs that a comment takes, with comments in memory."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

BOT = {"login": "github-actions[bot]", "type": "Bot"}


@dataclass
class Host:
    """What the host has.

    Args:
        pulls: of GitHub, as the API lists them.
        comments: of the only request, in their order, as either API lists them.
        sha: head of GitLab's merge request.
        seen: method, path and headers of each request.
        redirect: where each request is sent; empty for nowhere.
        realm: who asks for a password; empty for nobody.
    """

    pulls: list[dict[str, Any]] = field(default_factory=list)
    comments: list[dict[str, Any]] = field(default_factory=list)
    sha: str = ""
    seen: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    redirect: str = ""
    realm: str = ""
    raw: bytes | None = None
    address: str = ""

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> Any:
        """Return the answer to a request; None for one that no host has."""
        tail = path.rsplit("/", 1)[-1]
        if method == "GET":
            every = {
                "/repos/org/platform/pulls": self.pulls,
                "/repos/org/platform/issues/7/comments": self.comments,
                "/projects/3/merge_requests/7/notes": self.comments,
            }
            if path in every:
                page, size = int(query["page"]), int(query["per_page"])
                return every[path][(page - 1) * size : page * size]
            return {
                "/user": {"id": 99},
                "/projects/3/merge_requests/7": {"sha": self.sha},
            }.get(path)
        if method == "POST" and tail in {"comments", "notes"}:
            new = {"id": 1000, "user": BOT, "author": {"id": 99}, **body}
            self.comments.append(new)
            return new
        known = {str(each["id"]): each for each in self.comments}
        if method in {"PATCH", "PUT"} and tail in known:
            known[tail].update(body)
            return known[tail]
        return None


@contextmanager
def serving(host: Host) -> Iterator[Host]:
    """Serve a host on a port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            parts = urlsplit(self.path)
            host.seen.append((self.command, parts.path, dict(self.headers)))
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if host.redirect:
                self.send_response(302)
                self.send_header("Location", host.redirect)
                self.end_headers()
                return
            if host.realm and "Authorization" not in self.headers:
                self.send_response(401)
                self.send_header("WWW-Authenticate", f'Basic realm="{host.realm}"')
                self.end_headers()
                return
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            found = host.answer(self.command, parts.path, query, json.loads(body or b"{}"))
            self.send_response(200 if found is not None else 404)
            self.end_headers()
            self.wfile.write(json.dumps(found).encode() if host.raw is None else host.raw)

        do_GET = do_POST = do_PATCH = do_PUT = _do  # noqa: N815 - the names that the class asks for

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        host.address = f"http://127.0.0.1:{server.server_port}"
        yield host
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
