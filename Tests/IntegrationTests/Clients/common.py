"""What the clients of the tests share. Nothing here comes from Carillon: the partition rule and the keys are computed here."""

import sys
import urllib.parse

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

DEADLINE = 90.0
"""Seconds that anything may take before it counts as never."""


def murmur2(data: bytes) -> int:
    """The hash of Kafka's Java client, as an unsigned 32-bit number."""
    mask, m = 0xFFFFFFFF, 0x5BD1E995
    h = (0x9747B28C ^ len(data)) & mask
    whole = len(data) & ~3
    for index in range(0, whole, 4):
        k = int.from_bytes(data[index : index + 4], "little") * m & mask
        k = (k ^ (k >> 24)) * m & mask
        h = (h * m & mask) ^ k
    rest = data[whole:]
    if rest:
        h = (h ^ int.from_bytes(rest, "little")) * m & mask
    h = (h ^ (h >> 13)) * m & mask
    return h ^ (h >> 15)


for _text, _hash in ((b"21", -973932308), (b"foobar", -790332482), (b"a-little-bit-long-string", -985981536), (b"abc", 479470107)):
    # Vectors of org.apache.kafka.common.utils.UtilsTest.
    assert murmur2(_text) == _hash & 0xFFFFFFFF, _text


def partition_of(recipient: str, count: int) -> int:
    return (murmur2(recipient.encode()) & 0x7FFFFFFF) % count


def encode_key(*components: str) -> str:
    """Percent-encoded except for RFC 3986 unreserved characters, joined with a slash."""
    return "/".join(urllib.parse.quote(component, safe="") for component in components)


def decode_key(key: str) -> list[str]:
    return [urllib.parse.unquote(component, errors="strict") for component in key.split("/")]


def partition_count(client, topic: str) -> int:
    metadata = client.list_topics(topic, timeout=30).topics[topic]
    if metadata.error is not None:
        sys.exit(f"no metadata of {topic}: {metadata.error}")
    return len(metadata.partitions)


def reader(bootstrap: str, topics: list[str]) -> Consumer:
    """Reads every partition of the topics from the beginning, without a group."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "reads-without-it",
            "enable.auto.commit": False,
            "enable.partition.eof": False,
            "fetch.wait.max.ms": 20,
        }
    )
    consumer.assign(
        [
            TopicPartition(topic, partition, OFFSET_BEGINNING)
            for topic in topics
            for partition in range(partition_count(consumer, topic))
        ]
    )
    return consumer
