"""JSON over HTTP with a token: a few requests, no redirects, and limits on what is read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from trainyard import __version__
from trainyard.diagnostics import ToolError, TreeError

_TIMEOUT = 30.0  # seconds
_LIMIT = 20 * 1024 * 1024  # bytes of an answer
_PAGE = 100
_PAGES = 50

Value = TypeVar("Value")


class _NoRedirect(HTTPRedirectHandler):
    """Follows no redirect: urllib would send the token to whichever host is named there."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Api:
    """An API below an address.

    Args:
        address: starts with ``https://`` or ``http://``; without a slash at its end.
        headers: of each request, the token included.
    """

    address: str
    headers: Mapping[str, str] = field(repr=False)

    def get(self, path: str, **query: str | int) -> Any:
        """Return the answer to a GET request.

        Raises:
            ToolError: the host can't be reached, or refuses.
            TreeError: it does not answer with JSON.
        """
        return self._send("GET", f"{path}?{urlencode(query)}" if query else path)

    def every(self, path: str, **query: str) -> Iterator[Any]:
        """Yield the entries of all pages of a list.

        Raises:
            ToolError: as `get`.
            TreeError: as `get`, or there are more than 5,000 entries.
        """
        for page in range(1, _PAGES + 1):
            entries = self.get(path, **query, per_page=_PAGE, page=page)
            if not isinstance(entries, list):
                raise TreeError(f"{self.address}{path} did not answer with a list")
            yield from entries
            if len(entries) < _PAGE:
                return
        raise TreeError(f"{self.address}{path} has more than {_PAGE * _PAGES} entries")

    def send(self, method: str, path: str, **fields: str) -> Any:
        """Return the answer to a request that changes something.

        Raises:
            ToolError, TreeError: as `get`.
        """
        return self._send(method, path, json.dumps(fields).encode())

    def _send(self, method: str, path: str, body: bytes | None = None) -> Any:
        headers = {"User-Agent": f"trainyard/{__version__}", **self.headers}
        if body is not None:
            headers["Content-Type"] = "application/json"
        where = f"{method} {self.address}{path.partition('?')[0]}"
        request = Request(f"{self.address}{path}", body, headers, method=method)  # noqa: S310
        try:
            with build_opener(_NoRedirect).open(request, timeout=_TIMEOUT) as answer:
                content = answer.read(_LIMIT + 1)
        except HTTPError as problem:
            raise ToolError(f"{where}: the host answered {problem.code} {problem.reason}") from None
        except (URLError, OSError, UnicodeError) as problem:
            raise ToolError(f"{where}: {problem}") from problem
        except HTTPException as problem:
            raise TreeError(f"{where}: the answer is not HTTP") from problem
        return plain(content, where)


def is_whole(address: str) -> bool:
    """Return whether an address has a host, and a port that is one if it has any."""
    try:
        parts = urlsplit(address)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def plain(content: bytes, where: str) -> Any:
    """Return the plain data of an answer.

    Raises:
        TreeError: it is too large, or is not JSON.
    """
    if len(content) > _LIMIT:
        raise TreeError(f"{where}: the answer is larger than {_LIMIT} bytes")
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise TreeError(f"{where}: the answer is not JSON") from problem


def part(answer: Any, kind: type[Value], *steps: str) -> Value:
    """Return the value that an answer has under some keys.

    Raises:
        TreeError: it has none of that kind.
    """
    value = answer
    for step in steps:
        value = value.get(step) if isinstance(value, dict) else None
    if type(value) is not kind:
        raise TreeError(f"the host's answer has no usable `{'.'.join(steps)}`")
    return value
