"""What the consumer service does to an immediate request, as a plain loop over confluent-kafka would do it.

    python confluent_loop.py BOOTSTRAP REQUESTS DELIVERIES PARTITIONS COUNT [property=value ...]

Without offsets, timers, deduplication, metrics or recovery: it reads every partition by hand, parses, keeps the last
version by key and produces an event with the same headers, id and bytes as the C++ program. It prints `done` when
COUNT events are acknowledged, and then waits to be terminated.

Requirements: confluent-kafka, orjson
"""

import gc
import signal
import sys

import orjson
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from delivery_event import event_of, headers_of, properties_of

BATCH = 1000


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

    consuming, producing = properties_of(properties)
    consumer = Consumer(
        {
            **consuming,
            "bootstrap.servers": bootstrap,
            "group.id": "carillon-bench-confluent-loop",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "error",
        }
    )
    producer = Producer(
        {**producing, "bootstrap.servers": bootstrap, "enable.idempotence": True, "on_delivery": on_delivery}
    )
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

            event = orjson.dumps(event_of(key, request, replaces))
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
