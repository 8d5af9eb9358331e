"""What the consumer service does to an immediate request, as a plain loop over confluent-kafka would do it.

    python confluent_loop.py BOOTSTRAP REQUESTS DELIVERIES PARTITIONS COUNT [property=value ...]

Without offsets, timers, deduplication, metrics or recovery: it reads every partition by hand, parses, keeps the last
version by key and produces an event with the same headers, id and bytes as the C++ program. It prints `done` when
COUNT events are acknowledged, and then waits to be terminated.

Requirements: confluent-kafka==2.12.2 orjson==3.13.0
"""

import functools
import gc
import hashlib
import signal
import sys
import time
from urllib.parse import unquote

import orjson
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

BATCH = 1000

# UUIDv5 of the URL namespace and urn:carillon:notification:event.
EVENT_NAMESPACE = bytes.fromhex("1d21b54fc67f5a67b6f78bbc623df0f5")
# What follows the request id: no occurrence, the event's name and no device, each with its length before it.
EVENT_NAME = b"\0\0\0\0" b"\0\0\0\x09delivered" b"\0\0\0\0"

SPECVERSION = ("ce_specversion", b"1.0")
SOURCE = ("ce_source", b"/carillon/default")
TYPE = ("ce_type", b"carillon.notification.delivered.v1")
CONTENT_TYPE = ("content-type", b"application/json")


def event_id(request_id):
    """The UUIDv5 of the event; uuid.UUID would take several times as long."""
    name = request_id.encode()
    digest = hashlib.sha1(EVENT_NAMESPACE + len(name).to_bytes(4, "big") + name + EVENT_NAME).hexdigest()
    variant = "89ab"[int(digest[16], 16) & 3]
    return f"{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"


@functools.lru_cache(maxsize=1)
def second_text(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def now():
    """RFC 3339 in UTC with milliseconds."""
    seconds, milliseconds = divmod(time.time_ns() // 1_000_000, 1000)
    return f"{second_text(seconds)}.{milliseconds:03d}Z"


def configurations(bootstrap, properties):
    """The properties of the consumer and of the producer."""
    consuming = {
        "bootstrap.servers": bootstrap,
        "group.id": "carillon-bench-confluent-loop",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "error",
        "isolation.level": "read_committed",
        "socket.nagle.disable": True,
    }
    producing = {
        "bootstrap.servers": bootstrap,
        "enable.idempotence": True,
        "acks": "all",
        "queue.buffering.max.ms": 5,
        "queue.buffering.max.messages": 200_000,
        "queue.buffering.max.kbytes": 262_144,
        "socket.nagle.disable": True,
    }
    for argument in properties:
        name, equal, value = argument.partition("=")
        if not equal:
            sys.exit(f"not property=value: {argument}")
        is_consumers = name.startswith(("fetch.", "queued."))
        (consuming if is_consumers else producing)[name] = value
    return consuming, producing


def event_of(key, request, replaces):
    """The event's JSON; the members are in the order of the schema."""
    application, recipient, identifier = key.split("/", 2)
    event = {
        "requestId": request["requestId"],
        "application": unquote(application),
        "recipient": unquote(recipient),
        "identifier": unquote(identifier),
        "closes": True,
    }
    if replaces is not None:
        event["replaces"] = replaces
    event["channel"] = "events"
    event["content"] = request["content"]
    return orjson.dumps(event)


def headers_of(key, request_id, received):
    headers = [
        SPECVERSION,
        ("ce_id", event_id(request_id)),
        SOURCE,
        TYPE,
        ("ce_time", now()),
        ("ce_subject", key),
        CONTENT_TYPE,
    ]
    for header in reversed(received or ()):
        if header[0] == "traceparent":
            headers.append(header)
            break
    return headers


def main():
    if len(sys.argv) < 6:
        sys.exit("usage: confluent_loop.py BOOTSTRAP REQUESTS DELIVERIES PARTITIONS COUNT [property=value ...]")
    bootstrap, requests, deliveries, partitions, count, *properties = sys.argv[1:]
    expected = int(count)
    acknowledged = 0

    def on_delivery(error, _):
        nonlocal acknowledged
        if error is not None:
            sys.exit(f"not delivered: {error}")
        acknowledged += 1

    consuming, producing = configurations(bootstrap, properties)
    consumer = Consumer(consuming)
    producer = Producer({**producing, "on_delivery": on_delivery})
    consumer.assign([TopicPartition(requests, partition, OFFSET_BEGINNING) for partition in range(int(partitions))])

    gc.disable()  # Nothing here is cyclic, and the collector would walk what only grows.
    entries = {}  # The last version by key: request id and request.
    read = 0
    while read < expected:
        # `consume` waits until the batch is full; so what is there is taken, and only nothing is waited for.
        messages = consumer.consume(BATCH, 0) or consumer.consume(1, 0.1)
        for message in messages:
            if message.error() is not None:
                sys.exit(str(message.error()))
            key, value = message.key(), message.value()
            request = orjson.loads(value)
            request_id = request["requestId"]
            replaces, _ = entries.get(key, (None, None))
            entries[key] = (request_id, value)

            event = event_of(key.decode(), request, replaces)
            headers = headers_of(key, request_id, message.headers())
            while True:
                try:
                    producer.produce(deliveries, event, key, message.partition(), headers=headers)
                    break
                except BufferError:
                    producer.poll(0.01)
        read += len(messages)
        producer.poll(0)
    while acknowledged < expected:
        producer.poll(0.1)

    print("done", flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
