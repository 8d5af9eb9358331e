"""Sends messages with pywebpush, and prints how long that took: {"accepted", "seconds", "cpu_seconds"}."""

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import requests
from py_vapid import Vapid
from pywebpush import webpush


def main() -> None:
    ca, key, subject, subscriptions, payload, count, connections = sys.argv[1:]
    os.environ["REQUESTS_CA_BUNDLE"] = ca
    subscriptions = json.loads(open(subscriptions).read())
    payload = open(payload, "rb").read()
    # Read once, as a server does.
    vapid = Vapid.from_file(key)

    def send(session: requests.Session, number: int) -> bool:
        answer = webpush(
            subscriptions[number % len(subscriptions)],
            payload,
            vapid_private_key=vapid,
            vapid_claims={"sub": subject},
            headers={"topic": f"order-{number:08}", "urgency": "normal"},
            ttl=86_400,
            requests_session=session,
        )
        return answer.status_code == 201

    def work(numbers: range) -> int:
        with requests.Session() as session:
            return sum(send(session, number) for number in numbers)

    begin, cpu = time.monotonic(), time.process_time()
    # A connection for each thread.
    with ThreadPoolExecutor(max_workers=int(connections)) as threads:
        parts = [range(first, int(count), int(connections)) for first in range(int(connections))]
        accepted = sum(threads.map(work, parts))
    seconds, cpu = time.monotonic() - begin, time.process_time() - cpu
    print(json.dumps({"accepted": accepted, "seconds": seconds, "cpu_seconds": cpu}))


main()
