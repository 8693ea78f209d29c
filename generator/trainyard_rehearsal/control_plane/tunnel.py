"""A proxy for the API server at the profile's address, by which Argo CD knows the cluster."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread

_CHUNK = 65536


@contextmanager
def tunnel(target: int) -> Iterator[int]:
    """Run an HTTP proxy on loopback that passes every CONNECT (RFC 9110, 9.3.6) to one port.

    Args:
        target: that port on loopback.

    Yields:
        Port of the proxy.
    """

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            while self.rfile.readline().strip():
                pass
            with suppress(OSError), socket.create_connection(("127.0.0.1", target)) as server:
                self.request.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                Thread(target=_pass_on, args=(server, self.request), daemon=True).start()
                _pass_on(self.request, server)

    with ThreadingTCPServer(("127.0.0.1", 0), Handler, bind_and_activate=True) as proxy:
        proxy.daemon_threads, proxy.block_on_close = True, False
        Thread(target=proxy.serve_forever, daemon=True).start()
        try:
            yield proxy.server_address[1]
        finally:
            proxy.shutdown()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    """Copy bytes until one side ends, then end the other."""
    with suppress(OSError):
        while content := source.recv(_CHUNK):
            sink.sendall(content)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)
