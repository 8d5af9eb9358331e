"""Pending notifications in Redis: a sorted set by due time, and a string for each body.

    python redis_timers.py PORT COUNT BODY

BODY has {n} where the number of the entry goes. A pipeline of 1,000 entries at a time, without transactions. It prints one
JSON object with the seconds from the first entry to the last answer, and how many entries are there.

Requirements: redis
"""

import json
import random
import sys
import time

import redis

BATCH = 1000
WEEK = 7 * 86_400


def connect(port):
    client = redis.Redis(host="127.0.0.1", port=port)
    for _ in range(200):
        try:
            client.ping()
            return client
        except redis.ConnectionError:
            time.sleep(0.05)
    sys.exit(f"no Redis on port {port} within 10 s")


def main():
    port, count, body = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    client = connect(port)
    chance = random.Random(1)
    now = time.time()
    started = time.perf_counter()
    for first in range(0, count, BATCH):
        pipeline = client.pipeline(transaction=False)
        due = {}
        for number in range(first, min(first + BATCH, count)):
            digits = "%08d" % number
            key = f"shop/user-{digits}/order-{digits}"
            due[key] = now + WEEK * (1 + chance.random())
            pipeline.set(key, body.replace("{n}", digits))
        pipeline.zadd("due", due)
        pipeline.execute()
    seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "entries": min(client.zcard("due"), client.dbsize() - 1)}))


if __name__ == "__main__":
    main()
