"""Holds a port at which nobody answers, and prints it. A line HOST:PORT on standard input, and it forwards there from then on."""

import asyncio
import socket
import sys


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def main() -> None:
    # Bound and not listening: the port is ours, and connections are refused.
    held = socket.socket()
    held.bind(("127.0.0.1", 0))
    print(held.getsockname()[1], flush=True)
    line = await asyncio.to_thread(sys.stdin.readline)
    if not line:
        return
    host, port = line.strip().rsplit(":", 1)

    async def forward(reader, writer):
        try:
            to_reader, to_writer = await asyncio.open_connection(host, int(port))
        except OSError:
            writer.close()
            return
        await asyncio.gather(pump(reader, to_writer), pump(to_reader, writer))

    server = await asyncio.start_server(forward, sock=held)
    await server.serve_forever()


asyncio.run(main())
