"""Prints as many ports as asked for that nothing listens on at the moment.

They are below those that the kernel gives to whoever asks for any: no other server of a test can get one meanwhile.
"""

import random
import socket
import sys

with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
    first_of_kernel = int(file.read().split()[0])
candidates = random.sample(range(10_000, max(first_of_kernel, 20_000)), 200)

held = []
while len(held) < int(sys.argv[1]):
    try:
        held.append(socket.create_server(("127.0.0.1", candidates.pop())))
    except OSError:
        continue
for held_socket in held:
    print(held_socket.getsockname()[1])
