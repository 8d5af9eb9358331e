"""Sends pushes with aioapns, and prints how long that took: {"accepted", "seconds", "cpu_seconds"}."""

import asyncio
import json
import ssl
import sys
import time

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol

# More bodies than a connection's first window has room for would fail: aioapns does not wait for WINDOW_UPDATE.
AT_ONCE = 100


async def main() -> None:
    port, ca, key, key_id, team_id, topic, payload, count, connections = sys.argv[1:]
    # It has no setting for them.
    APNsProductionClientProtocol.APNS_SERVER = "localhost"
    APNsProductionClientProtocol.APNS_PORT = int(port)
    client = APNs(
        key=open(key).read(),
        key_id=key_id,
        team_id=team_id,
        topic=topic,
        max_connections=int(connections),
        ssl_context=ssl.create_default_context(cafile=ca),
    )
    message = json.loads(open(payload, "rb").read())
    accepted = 0

    async def send(number: int) -> None:
        nonlocal accepted
        request = NotificationRequest(
            device_token=f"{number + 1:064}",
            message=message,
            collapse_key=f"order-{number:08}",
            push_type=PushType.ALERT,
            priority=10,
        )
        if (await client.send_notification(request)).is_successful:
            accepted += 1

    async def worker(numbers) -> None:
        for number in numbers:
            await send(number)

    # Connections are open, and allow more streams than one.
    for number in range(int(connections)):
        await send(number)
    numbers = iter(range(int(count)))
    begin, cpu = time.monotonic(), time.process_time()
    await asyncio.gather(*(worker(numbers) for _ in range(AT_ONCE)))
    seconds, cpu = time.monotonic() - begin, time.process_time() - cpu
    print(json.dumps({"accepted": accepted, "seconds": seconds, "cpu_seconds": cpu}))


asyncio.run(main())
