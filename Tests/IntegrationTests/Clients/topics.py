"""Makes or removes Carillon's topics on a cluster: topics.py create|delete BOOTSTRAP PREFIX [PARTITIONS [NAME=VALUE…]].

With settings `requests` is compacted, too, and they are for all that is compacted.
"""

import sys
import time

from common import DEADLINE
from confluent_kafka.admin import AdminClient, NewTopic

NAMES = "business-events requests signals devices tokens categories deliveries responses state dead-letters".split()
COMPACTED = {"devices", "tokens", "categories", "state"}


def main(action: str, bootstrap: str, prefix: str, partitions: str = "8", *settings: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    if action == "create":
        special = dict(setting.split("=", 1) for setting in settings)
        # Without a key, as some tests send them, a compacted topic takes no records.
        policies = dict.fromkeys(COMPACTED, "compact") | ({"requests": "compact,delete"} if special else {})
        topics = [
            NewTopic(
                prefix + name,
                num_partitions=int(partitions),
                config={"cleanup.policy": policies.get(name, "delete")} | (special if name in policies else {}),
            )
            for name in NAMES
        ]
        results = admin.create_topics(topics, operation_timeout=30, request_timeout=30)
    else:
        results = admin.delete_topics([prefix + name for name in NAMES], operation_timeout=30, request_timeout=30)
    failures = [f"{topic}: {error}" for topic, result in results.items() if (error := result.exception(60))]
    if failures:
        sys.exit(f"cannot {action} topics at {bootstrap}: " + "; ".join(failures))
    if action == "create":
        await_leaders(admin, {prefix + name for name in NAMES}, int(partitions))


def await_leaders(admin: AdminClient, topics: set[str], partitions: int) -> None:
    """The controller has made them; brokers hear of it later, and until then they know no such topic."""
    deadline = time.monotonic() + DEADLINE
    while True:
        known = admin.list_topics(timeout=30).topics
        missing = {
            topic
            for topic in topics
            if topic not in known or sum(place.leader >= 0 for place in known[topic].partitions.values()) < partitions
        }
        if not missing:
            return
        if time.monotonic() > deadline:
            sys.exit(f"no leaders within {DEADLINE} s for the partitions of {sorted(missing)}")
        time.sleep(0.1)


main(*sys.argv[1:])
