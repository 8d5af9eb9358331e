"""Sends what its standard input says, one JSON object a line, and answers each with where the broker put it.

An event is made by the CloudEvents SDK: {"event": {attributes}, "data": …, "mode": "binary" | "structured", "headers": {…}}.
A record is sent as it is: {"topic": …, "key": …, "valueBase64": … | null, "headers": {name: text}, "partition": n,
"recipient": …, "shift": n, "timestamp": milliseconds}: to the partition of the recipient, shifted by so many, when one is named.
"""

import base64
import json
import sys
import time

from cloudevents.http import CloudEvent
from cloudevents.kafka import to_binary, to_structured
from common import partition_count, partition_of
from confluent_kafka import Producer


def event(order: dict) -> dict:
    made = CloudEvent(order["event"], order.get("data"))

    def key(made):
        return made.get("subject")

    if order.get("mode", "binary") == "binary":
        message = to_binary(made, key_mapper=key)
        headers = dict(message.headers)
    else:
        message = to_structured(made, key_mapper=key)
        # The SDK leaves the mode's own media type, which the Kafka binding demands, to the sender.
        headers = {"content-type": b"application/cloudevents+json; charset=UTF-8"}
    return {"key": message.key, "value": message.value, "headers": headers}


def record(order: dict, producer: Producer) -> dict:
    value = order.get("valueBase64")
    made = {
        "topic": order["topic"],
        "key": order.get("key"),
        "value": None if value is None else base64.b64decode(value),
        "headers": {},
    }
    if "recipient" in order:
        count = partition_count(producer, order["topic"])
        made["partition"] = (partition_of(order["recipient"], count) + order.get("shift", 0)) % count
    elif "partition" in order:
        made["partition"] = order["partition"]
    return made


def main(bootstrap: str, business_events: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "linger.ms": 0})
    answers: list[dict] = []
    for line in sys.stdin:
        order = json.loads(line)
        if "event" in order:
            made = {"topic": business_events, **event(order)}
        else:
            made = record(order, producer)
        for name, text in order.get("headers", {}).items():
            made["headers"][name] = text.encode()

        # Said by us: the acknowledgement of the embedded broker has none.
        timestamp = order.get("timestamp") or int(time.time() * 1000)

        def acknowledged(error, message, timestamp=timestamp):
            if error is not None:
                sys.exit(f"not acknowledged: {error}")
            answers.append(
                {
                    "topic": message.topic(),
                    "partition": message.partition(),
                    "offset": message.offset(),
                    "timestamp": timestamp,
                }
            )

        producer.produce(
            on_delivery=acknowledged,
            timestamp=timestamp,
            **{k: v for k, v in made.items() if v is not None or k == "value"},
        )
        # One after the other, so that answers are in the order of the lines.
        if producer.flush(60) != 0:
            sys.exit("the broker does not acknowledge")
    for answer in answers:
        print(json.dumps(answer))


main(*sys.argv[1:])
