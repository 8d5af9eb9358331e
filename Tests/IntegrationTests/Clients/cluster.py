"""What an operator, or time, does to a cluster.

cluster.py expire BOOTSTRAP TOPIC RECIPIENT  everything that the recipient's partition holds by now is gone, as after its retention
cluster.py compact BOOTSTRAP TOPIC           waits until the broker has compacted all partitions of a topic; prints how it saw that
"""

import json
import sys
import time
from collections import Counter

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


def records(bootstrap: str, topic: str):
    """What a reader of the whole topic gets."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "reads-without-it", "enable.partition.eof": True})
    partitions = partition_count(consumer, topic)
    consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in range(partitions)])
    ended = set()
    while len(ended) < partitions:
        message = consumer.poll(30)
        if message is None:
            sys.exit(f"{topic} cannot be read to its end")
        if message.error() is None:
            yield message
        else:
            ended.add(message.partition())
    consumer.close()


def compact(bootstrap: str, topic: str) -> None:
    """A segment is compacted only when a younger one was begun: tombstones of a key that nobody has begin them.

    Where one of these is gone, everything before it was gone over: that holds whatever others write meanwhile.
    """
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all"})
    partitions = partition_count(producer, topic)
    nobody = {
        partition_of(f"nobody-{number}", partitions): encode_key("shop", f"nobody-{number}", "none").encode()
        for number in range(partitions * 20)
    }
    written = 0
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        for partition, key in nobody.items():
            producer.produce(topic, None, key, partition)
        producer.flush(30)
        written += 1
        time.sleep(1)
        left = Counter(message.partition() for message in records(bootstrap, topic) if message.key() in nobody.values())
        if all(0 < left[partition] < written for partition in nobody):
            print(json.dumps({"written": written, "left": left}))
            return
    sys.exit(f"{topic} was not compacted within {DEADLINE} s: of {written} tombstones in each partition there are {dict(left)}")


action, *arguments = sys.argv[1:]
{"expire": expire, "compact": compact}[action](*arguments)
