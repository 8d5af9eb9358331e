"""Plays the user's gateway and the phones of a recipient: gateway.py BOOTSTRAP PREFIX RECIPIENT.

It reads `deliveries`. A phone whose name begins with `gone` has no token any more, one with `broken` is refused by its platform; all
others show what they get, and the person opens it. Everything is told on `signals`, twice: networks repeat themselves.
Standard output: one JSON object for each notification of each phone.
"""

import json
import signal
import sys
import uuid
from itertools import chain, repeat

from common import encode_key, partition_count, partition_of, reader
from confluent_kafka import Producer

RECEIPTS = ("received", "presented", "opened")


def told_by(device: str) -> list[tuple[str, dict]]:
    """What becomes of a notification at a phone, as types and members of signals."""
    if device.startswith("gone"):
        return [("report", {"outcome": "unregistered"})]
    if device.startswith("broken"):
        return [("report", {"outcome": "rejected", "reason": "BadTopic"})]
    return [("report", {"outcome": "accepted"})] + [("receipt", {"receipt": receipt}) for receipt in RECEIPTS]


def main(bootstrap: str, prefix: str, recipient: str) -> None:
    ended: list[bool] = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "linger.ms": 0})
    partition = partition_of(recipient, partition_count(producer, prefix + "signals"))
    consumer = reader(bootstrap, [prefix + "deliveries"])
    while not ended:
        message = consumer.poll(0.1)
        if message is None or message.error() is not None:
            continue
        if dict(message.headers())["ce_type"] != b"carillon.notification.delivered.v1":
            continue
        event = json.loads(message.value())
        if event["recipient"] != recipient:
            continue
        for entry in event.get("devices", []):
            if entry["outcome"] != "accepted":
                continue
            named = {name: event[name] for name in ("application", "identifier", "requestId")} | {"device": entry["device"]}
            for type, members in chain.from_iterable(repeat(told_by(entry["device"]), 2)):
                producer.produce(
                    prefix + "signals",
                    json.dumps(named | members),
                    encode_key(recipient),
                    partition,
                    headers={"ce_specversion": "1.0", "ce_type": f"carillon.signal.{type}.v1", "ce_id": str(uuid.uuid4())},
                )
            if producer.flush(60) != 0:
                sys.exit("the broker does not acknowledge")
            shown = {name: event.get(name) for name in ("content", "actions", "thread")} | entry | named
            print(json.dumps(shown), flush=True)
    consumer.close()


main(*sys.argv[1:])
