"""What an operator, or time, does to a cluster.

cluster.py expire BOOTSTRAP TOPIC RECIPIENT  everything that the recipient's partition holds by now is gone, as after its retention
cluster.py compact BOOTSTRAP TOPIC           waits until the broker has compacted a topic; prints how many records there were and are
"""

import json
import sys
import time

from common import DEADLINE, encode_key, partition_count, partition_of
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient


def expire(bootstrap: str, topic: str, recipient: str) -> None:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "asks-only"})
    place = TopicPartition(topic, partition_of(recipient, partition_count(consumer, topic)))
    _, high = consumer.get_watermark_offsets(place, timeout=30)
    consumer.close()
    # Its answers come only as long as it is there.
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for result in admin.delete_records([TopicPartition(topic, place.partition, high)]).values():
        result.result(30)
    print(json.dumps({"partition": place.partition, "low": high}))


def count(bootstrap: str, topic: str) -> int:
    """Records that a reader of the whole topic gets."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "reads-without-it", "enable.partition.eof": True})
    partitions = partition_count(consumer, topic)
    consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in range(partitions)])
    records, ended = 0, set()
    while len(ended) < partitions:
        message = consumer.poll(30)
        if message is None:
            sys.exit(f"{topic} cannot be read to its end")
        if message.error() is None:
            records += 1
        else:
            ended.add(message.partition())
    consumer.close()
    return records


def compact(bootstrap: str, topic: str) -> None:
    """A segment is compacted only when a younger one was begun: a tombstone of a key that nobody has begins it."""
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all"})
    partitions = partition_count(producer, topic)
    nobody = {partition_of(f"nobody-{number}", partitions): f"nobody-{number}" for number in range(partitions * 20)}
    before = count(bootstrap, topic)
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        for partition, recipient in nobody.items():
            producer.produce(topic, None, encode_key("shop", recipient, "none"), partition)
        producer.flush(30)
        time.sleep(1)
        if (now := count(bootstrap, topic)) < before:
            print(json.dumps({"before": before, "after": now}))
            return
    sys.exit(f"{topic} was not compacted within {DEADLINE} s: {before} records then, {count(bootstrap, topic)} now")


action, *arguments = sys.argv[1:]
{"expire": expire, "compact": compact}[action](*arguments)
