"""Stands before an embedded broker, which finds no offset by time, and finds them for it.

usage: times.py HOST:PORT TIMES   TIMES: {"topic": {"partition": [[timestamp, offset], ...]}}

Prints its own port, and a line for every partition that it is asked a time of. It speaks the protocol of Kafka as far as
ListOffsets (versions 1 to 5), and changes in the broker's answers what would lead past it. Ends with its input.
"""

import asyncio
import json
import struct
import sys

LIST_OFFSETS, METADATA, FIND_COORDINATOR = 2, 3, 10


class Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, form: str) -> int:
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def text(self) -> str:
        count = self.take(">h")
        if count < 0:
            return ""
        self.at += count
        return self.data[self.at - count : self.at].decode()


def answer(frame: bytes, version: int, times: dict) -> bytes | None:
    """The answer to a request that asks for a time; None when it asks for the beginning or the end."""
    request = Reader(frame)
    request.at = 4
    correlation = request.take(">i")
    request.text()
    request.take(">i")
    if version >= 2:
        request.take(">b")
    out = struct.pack(">i", correlation) + (struct.pack(">i", 0) if version >= 2 else b"")
    topics = request.take(">i")
    out += struct.pack(">i", topics)
    for _ in range(topics):
        topic = request.text()
        partitions = request.take(">i")
        out += struct.pack(">h", len(topic)) + topic.encode() + struct.pack(">i", partitions)
        for _ in range(partitions):
            partition = request.take(">i")
            if version >= 4:
                request.take(">i")
            timestamp = request.take(">q")
            if timestamp < 0:
                return None
            print(f"{topic} {partition} {timestamp}", flush=True)
            known = times.get(topic, {}).get(str(partition), [])
            found = next(((time, offset) for time, offset in known if time >= timestamp), (-1, -1))
            out += struct.pack(">ihqq", partition, 0, *found) + (struct.pack(">i", -1) if version >= 4 else b"")
    return out


async def frame_of(reader) -> bytes:
    (count,) = struct.unpack(">i", await reader.readexactly(4))
    return await reader.readexactly(count)


def put(writer, frame: bytes) -> None:
    writer.write(struct.pack(">i", len(frame)) + frame)


async def main() -> None:
    host, port = sys.argv[1].rsplit(":", 1)
    times = json.loads(sys.argv[2])

    async def serve(reader, writer) -> None:
        broker_reader, broker_writer = await asyncio.open_connection(host, int(port))
        kinds = {}

        async def requests() -> None:
            while True:
                frame = await frame_of(reader)
                kind, version, correlation = struct.unpack_from(">hhi", frame)
                known = answer(frame, version, times) if kind == LIST_OFFSETS and 1 <= version <= 5 else None
                if known is not None:
                    put(writer, known)
                    continue
                kinds[correlation] = kind
                put(broker_writer, frame)

        async def replies() -> None:
            while True:
                frame = await frame_of(broker_reader)
                if kinds.pop(struct.unpack_from(">i", frame)[0], None) in (METADATA, FIND_COORDINATOR):
                    address = struct.pack(">h", len(host)) + host.encode()
                    frame = frame.replace(address + struct.pack(">i", int(port)), address + struct.pack(">i", mine))
                    frame = frame.replace(b"mockCluster", b"timeCluster")
                put(writer, frame)

        try:
            await asyncio.gather(requests(), replies())
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()
            broker_writer.close()

    server = await asyncio.start_server(serve, host, 0)
    mine = server.sockets[0].getsockname()[1]
    print(mine, flush=True)
    await asyncio.to_thread(sys.stdin.read)


asyncio.run(main())
