"""Compares, as sets of ids, what a load put in with what came out, and waits until they agree.

Standard input: what load.py said at its end. Every id that was accepted is on `requests`, every event became a request, and every
request has its closing event or its `scheduled`; no event tells of a request that is not there; all repeats of a closing event have
one ce_id; nothing is delivered before its time. With --open so many requests are scheduled and nothing else is: the rest is closed.
Standard output: one JSON object with the numbers. What is missing is on standard error, with status 1.
"""

import argparse
import json
import sys
import time

from common import DEADLINE, reader

parser = argparse.ArgumentParser()
parser.add_argument("--bootstrap", required=True)
parser.add_argument("--prefix", required=True)
parser.add_argument("--recipients", required=True)
parser.add_argument("--acknowledged", action="store_true", help="accepted ids were on `requests`: compaction may have taken them")
parser.add_argument("--open", type=int, help="how many requests are to be scheduled and not closed")
options = parser.parse_args()

load = json.load(sys.stdin)
accepted, events = set(load["requests"]), set(load["events"])

requested: dict[str, str] = dict.fromkeys(accepted, "") if options.acknowledged else {}  # request id: identifier
records = 0
scheduled: set[str] = set()
closed: dict[str, set[str]] = {}  # request id: ce_ids of its closing events
closings = 0
ids: dict[str, int] = {}  # how often each ce_id was seen
early: set[str] = set()


def read(message) -> None:
    global records, closings
    # Other tests send what cannot be read, under other keys.
    if f"/{options.recipients}-".encode() not in (message.key() or b""):
        return
    value = json.loads(message.value())
    if message.topic().endswith("requests"):
        requested[value["requestId"]] = value["identifier"]
        records += 1
        return
    headers = dict(message.headers())
    id = headers["ce_id"].decode()
    ids[id] = ids.get(id, 0) + 1
    # Both are RFC 3339 in UTC with milliseconds: they compare as text.
    if "delivered" in headers["ce_type"].decode() and headers["ce_time"].decode() < value.get("occurrence", ""):
        early.add(value["requestId"])
    if headers["ce_type"] == b"carillon.notification.scheduled.v1":
        scheduled.add(value["requestId"])
    if value["closes"]:
        closings += 1
        closed.setdefault(value["requestId"], set()).add(headers["ce_id"].decode())


def differences() -> dict[str, list]:
    found = {
        "answered 202 and not on requests": accepted - requested.keys(),
        "events without a request": events - set(requested.values()),
        "requests without an event": requested.keys() - scheduled - closed.keys(),
        "events of no request": (scheduled | closed.keys()) - requested.keys(),
        "delivered before their time": early,
        "closed under several ce_ids": {id for id, ids in closed.items() if len(ids) > 1},
    }
    still = scheduled - closed.keys()
    if options.open is not None and len(still) != options.open:
        found[f"open, where {options.open} are expected"] = still or {"none"}
    return {name: sorted(ids) for name, ids in found.items() if ids}


consumer = reader(options.bootstrap, [options.prefix + "requests", options.prefix + "deliveries"])
deadline = time.monotonic() + DEADLINE
while True:
    message = consumer.poll(0.5)
    if message is not None:
        if message.error() is None:
            read(message)
        continue
    # Nothing more came for a while: that is when a comparison makes sense.
    if not differences() or time.monotonic() > deadline:
        break
consumer.close()
print(
    json.dumps(
        {
            "accepted": len(accepted),
            "events": len(events),
            "requests": len(requested),
            "scheduled": len(scheduled),
            "closed": len(closed),
            "repeatedRequests": max(0, records - len(requested)),
            "repeatedEvents": closings - len(closed),
            "repeatedIds": sum(count - 1 for count in ids.values()),
            "open": len(scheduled - closed.keys()),
        }
    )
)
for name, ids in differences().items():
    print(f"{name}: {len(ids)}, such as {ids[:5]}", file=sys.stderr)
sys.exit(1 if differences() else 0)
