"""Listen in the network namespace of every pod of `tests/e2e/packets.py`, and try connections.

Standard input: addresses by pod, ports, and probes `[source, target, protocol, port]`.
Standard output: the probes that were answered.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import resource
import socket
import struct
import sys
from contextlib import suppress
from itertools import product
from typing import Any

_CLONE_NEWNET = 0x40000000
_PATIENCE = 30.0
"""Seconds for one try.

kube-router rejects at once what no policy allows, so a try takes long on a busy machine only.
"""
_AT_ONCE = 200
_TYPES = {"TCP": socket.SOCK_STREAM, "UDP": socket.SOCK_DGRAM}
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER that ends a connection by a reset, so that no state is left for the next try."""

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Try all probes."""
    request: dict[str, Any] = json.load(sys.stdin)
    # Each listener is an open file, and the usual limit is 1,024.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    probes = _probe(request["addresses"], request["ports"], request["probes"])
    print(json.dumps(asyncio.run(probes)))  # noqa: T201


async def _probe(
    addresses: dict[str, str], ports: list[int], probes: list[list[Any]]
) -> list[list[Any]]:
    listeners = [
        _listen(pod, address, protocol, port)
        for (pod, address), protocol, port in product(addresses.items(), _TYPES, ports)
    ]
    free = asyncio.Semaphore(_AT_ONCE)

    async def answered(source: str, target: str, protocol: str, port: int) -> bool:
        async with free:
            with _socket(source, protocol) as one:
                one.bind((addresses[source], 0))
                with suppress(OSError):
                    async with asyncio.timeout(_PATIENCE):
                        return await _try(one, protocol, (addresses[target], port))
                return False

    open_ = await asyncio.gather(*(answered(*each) for each in probes))
    for listener in listeners:
        listener.close()
    return [each for each, is_open in zip(probes, open_, strict=True) if is_open]


async def _try(one: socket.socket, protocol: str, target: tuple[str, int]) -> bool:
    """Return whether a connection is made or a datagram comes back.

    Raises:
        OSError: it was refused, or there was no answer in time (TimeoutError).
    """
    loop = asyncio.get_running_loop()
    await loop.sock_connect(one, target)
    if protocol == "TCP":
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        return True
    await loop.sock_sendall(one, b"?")
    return await loop.sock_recv(one, 1) == b"?"


def _listen(pod: str, address: str, protocol: str, port: int) -> socket.socket:
    """Open a port: the kernel accepts connections, and datagrams are sent back."""
    one = _socket(pod, protocol)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.bind((address, port))
    if protocol == "TCP":
        one.listen(1024)
    else:
        asyncio.get_running_loop().add_reader(one, _echo, one)
    return one


def _echo(one: socket.socket) -> None:
    with suppress(OSError):
        data, sender = one.recvfrom(1)
        one.sendto(data, sender)


def _socket(pod: str, protocol: str) -> socket.socket:
    """Return a new socket in a pod's network namespace."""
    namespace = os.open(f"/run/netns/{pod}", os.O_RDONLY)
    try:
        if _libc.setns(namespace, _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
    finally:
        os.close(namespace)
    one = socket.socket(socket.AF_INET, _TYPES[protocol])
    one.setblocking(False)
    return one


if __name__ == "__main__":
    main()
