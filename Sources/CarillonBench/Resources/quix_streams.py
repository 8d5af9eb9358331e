"""What the consumer service does to an immediate request, as an application of Quix Streams would do it.

    python quix_streams.py BOOTSTRAP REQUESTS DELIVERIES PARTITIONS COUNT [property=value ...]

The last version by key is in the application's state (RocksDB), delivery is at least once, and everything else is
Quix Streams' default. It produces events with the same headers, id and bytes as the C++ program, prints `done` when
COUNT events are acknowledged, and then waits to be terminated.

The embedded broker answers no admin requests, so no topics are created, and the state has no changelog topic. That
flatters it: with a changelog, as is the default, each request would make two records and not one.

Requirements: quixstreams, confluent-kafka, orjson
"""

import signal
import sys
import tempfile

from quixstreams import Application
from quixstreams.models import TopicAdmin, TopicConfig, TopicManager

from delivery_event import event_of, headers_of, properties_of

GROUP = "carillon-bench-quix-streams"


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


def deliver(request, key, _timestamp, _headers, state):
    """The event of a request, which becomes the key's last version."""
    last = state.get("request")
    state.set("request", request)
    return event_of(key, request, last and last["requestId"])


def event_headers(event, key, _timestamp, received):
    return headers_of(key, event["requestId"], received)


def run(bootstrap, requests, deliveries, expected, properties, state_directory):
    """Processes `expected` requests; returns how many there were, all acknowledged."""
    # Both come on top of Quix Streams' own.
    consuming, producing = properties_of(properties)
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
    events.set_headers(event_headers).to_topic(app.topic(deliveries))
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
