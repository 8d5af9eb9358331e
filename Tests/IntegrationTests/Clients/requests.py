"""Publishes requests straight to their topic, so many or until SIGTERM; then it says which were acknowledged.

While it runs it prints {"accepted": n} now and then; at the end {"requests": [ids], "events": []}. --padding makes each request that
much larger.
"""

import argparse
import json
import signal
import time
import uuid

from common import encode_key, partition_count, partition_of
from confluent_kafka import Producer

parser = argparse.ArgumentParser()
parser.add_argument("--bootstrap", required=True)
parser.add_argument("--topic", required=True)
parser.add_argument("--recipients", required=True, help="what the names of its recipients begin with")
parser.add_argument("--name", required=True, help="what the identifiers begin with")
parser.add_argument("--spread", type=int, default=16, help="how many recipients")
parser.add_argument("--count", type=int, default=0, help="0 for as many as there is time")
parser.add_argument("--pause", type=float, default=0.0)
parser.add_argument("--interval", type=float, default=0.0, help="seconds until each is due; 0 for now")
parser.add_argument("--padding", type=int, default=0)
options = parser.parse_args()

ended: list[bool] = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
accepted: list[str] = []
producer = Producer({"bootstrap.servers": options.bootstrap, "acks": "all", "linger.ms": 2})
partitions = partition_count(producer, options.topic)


def publish(number: int) -> None:
    recipient, identifier = f"{options.recipients}-{number % options.spread}", f"{options.name}-{number}"
    request = {
        "requestId": str(uuid.uuid4()),
        "application": "shop",
        "recipient": recipient,
        "identifier": identifier,
        "content": {"title": "Scenario", "body": identifier},
    }
    if options.interval:
        request["trigger"] = {"type": "timeInterval", "timeInterval": options.interval}
    if options.padding:
        request["content"]["userInfo"] = {"padding": "x" * options.padding}

    def acknowledged(error, _, id=request["requestId"]):
        if error is None:
            accepted.append(id)

    producer.produce(
        options.topic,
        json.dumps(request),
        encode_key("shop", recipient, identifier),
        partition_of(recipient, partitions),
        on_delivery=acknowledged,
    )


number, told = 0, time.monotonic()
while not ended and (options.count == 0 or number < options.count):
    publish(number)
    number += 1
    producer.poll(0)
    if options.pause:
        time.sleep(options.pause)
    if time.monotonic() - told > 0.2:
        print(json.dumps({"accepted": len(accepted)}), flush=True)
        told = time.monotonic()
producer.flush(60)
print(json.dumps({"requests": accepted, "events": []}), flush=True)
