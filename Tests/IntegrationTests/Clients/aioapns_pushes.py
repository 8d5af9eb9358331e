"""Sends pushes with aioapns, a client of APNs from another hand.

Reads cases as lines of JSON, {"token", "message", and others of aioapns' NotificationRequest}, and writes what aioapns
makes of each answer as a line of JSON.
"""

import argparse
import asyncio
import json
import ssl
import sys

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol


async def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--port", type=int, required=True)
    arguments.add_argument("--ca", required=True)
    arguments.add_argument("--key", required=True)
    arguments.add_argument("--key-id", required=True)
    arguments.add_argument("--team-id", required=True)
    arguments.add_argument("--topic", required=True)
    arguments.add_argument("--count", type=int, default=1, help="how often each case is sent, all at once")
    options = arguments.parse_args()

    # It has no setting for them.
    APNsProductionClientProtocol.APNS_SERVER = "localhost"
    APNsProductionClientProtocol.APNS_PORT = options.port
    client = APNs(
        key=open(options.key).read(),
        key_id=options.key_id,
        team_id=options.team_id,
        topic=options.topic,
        ssl_context=ssl.create_default_context(cafile=options.ca),
    )
    for line in sys.stdin:
        case = json.loads(line)
        requests = [
            NotificationRequest(
                device_token=case["token"],
                message=case["message"],
                time_to_live=case.get("time_to_live"),
                priority=case.get("priority"),
                collapse_key=case.get("collapse_key"),
                push_type=PushType(case.get("push_type", "alert")),
                apns_topic=case.get("topic"),
            )
            for _ in range(options.count)
        ]
        for result in await asyncio.gather(*(client.send_notification(request) for request in requests)):
            answer = {"status": result.status, "reason": result.description, "timestamp": result.timestamp}
            print(json.dumps(answer), flush=True)


asyncio.run(main())
