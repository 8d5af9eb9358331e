"""Prints as many ports as asked for that nothing listens on at the moment."""

import socket
import sys

held = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
for held_socket in held:
    print(held_socket.getsockname()[1])
