"""Sends the bytes of standard input over TCP as they are, and prints what comes back until the other side closes: raw.py PORT."""

import socket
import sys

with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=60) as connection:
    try:
        connection.sendall(sys.stdin.buffer.read())
        connection.shutdown(socket.SHUT_WR)
        while data := connection.recv(65536):
            sys.stdout.buffer.write(data)
    except ConnectionError:
        # A server may hang up on what it cannot read.
        pass
