"""What the consumer service does to an immediate request, as an application of Quix Streams would do it.

    python quix_streams.py BOOTSTRAP REQUESTS DELIVERIES PARTITIONS COUNT [property=value ...]

The last version by key is in the application's state (RocksDB), delivery is at least once, and everything else is
Quix Streams' default. It produces events with the same headers, id and bytes as the C++ program, prints `done` when
COUNT events are acknowledged, and then waits to be terminated.

The embedded broker answers no admin requests, so no topics are created, and the state has no changelog topic. That
flatters it: with a changelog, as is the default, each request would make two records and not one.

Requirements: quixstreams==3.28.1 confluent-kafka==2.12.2 orjson==3.13.0
"""

import functools
import hashlib
import signal
import sys
import tempfile
import time
from urllib.parse import unquote

from quixstreams import Application
from quixstreams.models import TopicAdmin, TopicConfig, TopicManager

GROUP = "carillon-bench-quix-streams"

# UUIDv5 of the URL namespace and urn:carillon:notification:event.
EVENT_NAMESPACE = bytes.fromhex("1d21b54fc67f5a67b6f78bbc623df0f5")
# What follows the request id: no occurrence, the event's name and no device, each with its length before it.
EVENT_NAME = b"\0\0\0\0" b"\0\0\0\x09delivered" b"\0\0\0\0"


class MetadataAdmin(TopicAdmin):
    """Inspects topics by their metadata alone: the embedded broker does not describe configurations."""

    def inspect_topics(self, topic_names, timeout=30):
        known = self.list_topics(timeout)
        return {name: self.config_of(known[name]) if name in known else None for name in topic_names}

    @staticmethod
    def config_of(metadata):
        # A stateful application asks for the retention, even where it makes no changelog topic of it.
        return TopicConfig(
            num_partitions=len(metadata.partitions),
            replication_factor=1,
            extra_config={"retention.ms": "-1"},
        )


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


def deliver(request, key, _timestamp, _headers, state):
    """The event of a request, which becomes the key's last version."""
    last = state.get("request")
    state.set("request", request)
    application, recipient, identifier = key.decode().split("/", 2)
    event = {
        "requestId": request["requestId"],
        "application": unquote(application),
        "recipient": unquote(recipient),
        "identifier": unquote(identifier),
        "closes": True,
    }
    if last is not None:
        event["replaces"] = last["requestId"]
    event["channel"] = "events"
    event["content"] = request["content"]
    return event


def headers_of(event, key, _timestamp, received):
    headers = [
        ("ce_specversion", b"1.0"),
        ("ce_id", event_id(event["requestId"])),
        ("ce_source", b"/carillon/default"),
        ("ce_type", b"carillon.notification.delivered.v1"),
        ("ce_time", now()),
        ("ce_subject", key),
        ("content-type", b"application/json"),
    ]
    for header in reversed(received):
        if header[0] == "traceparent":
            headers.append(header)
            break
    return headers


def configurations(properties):
    """The properties of the consumer and of the producer; both come on top of Quix Streams' own."""
    consuming = {"isolation.level": "read_committed", "socket.nagle.disable": True}
    producing = {
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


def run(bootstrap, requests, deliveries, expected, properties, state_directory):
    """Processes `expected` requests; returns how many there were, all acknowledged."""
    consuming, producing = configurations(properties)
    app = Application(
        broker_address=bootstrap,
        consumer_group=GROUP,
        auto_offset_reset="earliest",
        processing_guarantee="at-least-once",
        consumer_extra_config=consuming,
        producer_extra_config=producing,
        state_dir=state_directory,
        auto_create_topics=False,
        use_changelog_topics=False,
        topic_manager=TopicManager(MetadataAdmin(bootstrap), GROUP, auto_create_topics=False),
        loglevel="WARNING",
    )

    # `to_topic` leaves the partition to the hash of the key; an event goes where its request came from.
    produce_row = app._producer.produce_row
    produced = 0

    def produce_beside_request(row, topic, **rest):
        nonlocal produced
        produce_row(row, topic, partition=row.context.partition, **rest)
        produced += 1

    app._producer.produce_row = produce_beside_request

    events = app.dataframe(app.topic(requests)).apply(deliver, stateful=True, metadata=True)
    events.set_headers(headers_of).to_topic(app.topic(deliveries))
    app.run(count=expected, collect=False)  # It ends with a checkpoint, which waits for every acknowledgement.
    return produced


def main():
    if len(sys.argv) < 6:
        sys.exit("usage: quix_streams.py BOOTSTRAP REQUESTS DELIVERIES PARTITIONS COUNT [property=value ...]")
    # The partitions are assigned by the group.
    bootstrap, requests, deliveries, _partitions, count, *properties = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="carillon-bench-") as state_directory:
        produced = run(bootstrap, requests, deliveries, int(count), properties, state_directory)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # `Application.run` had its own.
    if produced < int(count):
        sys.exit("terminated")

    print("done", flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
