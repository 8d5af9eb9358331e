"""Plays a gateway with bad days and the phones behind it, kills the consumer service now and then, and at rest compares what each
phone shows with the committed events.

The gateway is one behind the channel `webhook` (phones_webhook.py), or the simulator of APNs (phones_apns.py), which is killed, too.
It starts the consumer service itself, with its own environment and the gateway's. It prints one line of JSON: {"requests", "kills",
"sends", "answers", "events", "differences", "errors"}. The same seed makes the same inputs, not the same interleaving.
"""

import argparse
import collections
import json
import os
import random
import signal
import subprocess
import time
import uuid
from datetime import datetime, timedelta, timezone

from common import encode_key, partition_count, partition_of, reader
from confluent_kafka import Producer
from phones_apns import APNsGateway
from phones_webhook import UNNAMED, WebhookGateway

parser = argparse.ArgumentParser()
parser.add_argument("--bootstrap", required=True)
parser.add_argument("--prefix", required=True, help="of the topics")
parser.add_argument("--seconds", type=float, default=30.0, help="how long inputs are written")
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--rule", choices=["none", "ids", "sequence", "both"], default="none", help="what the webhook's gateway ignores")
parser.add_argument("--apns", help="the program `carillon`: its simulator of APNs is the gateway")
parser.add_argument("--directory", help="for the files of the simulator")
parser.add_argument("--recipients", type=int, default=6)
parser.add_argument("--kills", type=int, default=4)
parser.add_argument("--consumer", required=True, help="the program")
options = parser.parse_args()

rng = random.Random(options.seed)
application = "shop"
gateway = APNsGateway(options.apns, options.directory) if options.apns else WebhookGateway(options.rule)
environment = os.environ | gateway.environment
generation = 0


def start() -> subprocess.Popen:
    # A group of its own: the embedded broker admits a first member at once.
    global generation
    generation += 1
    group = {"CARILLON_CONSUMER_GROUP": f"{environment['CARILLON_CONSUMER_GROUP']}-{generation}"}
    return subprocess.Popen([options.consumer], env=environment | group, stdout=subprocess.DEVNULL, stderr=log)


log = open(os.environ.get("PHONES_LOG", os.devnull), "ab")
producer = Producer({"bootstrap.servers": options.bootstrap, "acks": "all", "linger.ms": 1})
topics = {name: options.prefix + name for name in ("requests", "devices", "signals", "deliveries")}
partitions = {name: partition_count(producer, topic) for name, topic in topics.items()}
recipients = [f"r{options.seed}-{number}" for number in range(options.recipients)]
identifiers = ["a", "b", "c"]
names = ["phone", "tablet"]
registered: dict[tuple, dict] = {}
changed: dict[tuple, float] = {}
"""When a phone's registration changed last."""
sent: list[tuple] = []
kinds: collections.Counter = collections.Counter()
lines: dict[tuple, list[str]] = collections.defaultdict(list)
"""The events of each key."""
latest: dict[tuple, tuple] = {}
"""What was delivered last and not removed since, and when."""
before: dict[tuple, tuple] = {}
"""What each phone showed, and what `latest` said, before that."""


def write(topic: str, recipient: str, key: str, value, headers=None) -> None:
    body = None if value is None else json.dumps(value)
    producer.produce(topics[topic], body, key, partition_of(recipient, partitions[topic]), headers=headers)
    producer.poll(0)


def instant(seconds: float) -> str:
    moment = datetime.now(timezone.utc) + timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def request() -> None:
    recipient, identifier = rng.choice(recipients), rng.choice(identifiers)
    body = {"requestId": str(uuid.uuid4()), "application": application, "recipient": recipient, "identifier": identifier}
    body["content"] = {"title": f"N {len(sent)}"}
    kind = rng.random()
    if kind < 0.25:
        body["trigger"] = {"type": "timeInterval", "timeInterval": round(rng.uniform(0.5, 4), 3)}
    elif kind < 0.35:
        body["collapseWindow"] = 1
    if rng.random() < 0.2:
        body["expiration"] = instant(rng.uniform(1, 6))
    sent.append((recipient, identifier, body["requestId"]))
    write("requests", recipient, encode_key(application, recipient, identifier), body)


def removal() -> None:
    recipient = rng.choice(recipients)
    identifier = "" if rng.random() < 0.15 else rng.choice(identifiers)
    body = {"requestId": str(uuid.uuid4()), "remove": rng.choice(["pending", "delivered", "all", "all"])}
    write("requests", recipient, encode_key(application, recipient, identifier), body)


def registration() -> None:
    recipient, name = rng.choice(recipients), rng.choice(names)
    place = (recipient, name)
    changed[place] = time.time()
    key = encode_key(application, recipient, name)
    if place in registered and rng.random() < 0.25:
        del registered[place]
        return write("devices", recipient, key, None)
    status = rng.choice(["authorized", "authorized", "authorized", "denied"])
    registered[place] = gateway.registration(recipient, name) | {"authorizationStatus": status}
    write("devices", recipient, key, registered[place])


def uninstallation() -> None:
    """Nobody tells the service: its next push is refused."""
    place = (rng.choice(recipients), rng.choice(names))
    changed[place] = time.time()
    registered.pop(place, None)
    gateway.uninstall(*place)


def response() -> None:
    if not sent:
        return
    recipient, identifier, id = rng.choice(sent[-8:])
    device = gateway.dismiss(recipient, identifier, id)
    if device is None:
        return
    body = {
        "application": application, "identifier": identifier, "requestId": id, "responseId": str(uuid.uuid4()), "device": device,
        "actionIdentifier": "default",
    }
    write("signals", recipient, encode_key(recipient), body, [("ce_type", b"carillon.signal.response.v1")])


def expected() -> dict[tuple, dict]:
    """By key what the events say that each phone shows, and since when. What a phone has refused leaves what it showed before."""
    consumer, known, last = reader(options.bootstrap, [topics["deliveries"]]), collections.defaultdict(dict), time.monotonic()
    while time.monotonic() - last < 4:
        message = consumer.poll(0.2)
        if message is None or message.error():
            continue
        last = time.monotonic()
        headers = {name: value.decode() for name, value in message.headers() or []}
        kind, value = headers["ce_type"].removeprefix("carillon.notification.").removesuffix(".v1"), json.loads(message.value())
        if value.get("recipient") not in recipients:
            continue
        key = (value["recipient"], value.get("identifier"))
        kinds[kind] += 1
        devices = {d["device"]: d.get("outcome") for d in value.get("devices", [])}
        lines[key].append(f"{headers['ce_time']} event {kind} {value.get('requestId', '')[:8]} {devices or value.get('device', '')}")
        at = datetime.fromisoformat(headers["ce_time"]).timestamp()
        entry = ((value.get("requestId"), value.get("occurrence")), at)
        if kind in ("superseded", "expired", "cancelled", "failed") and key in latest and latest[key][0][0] == value["requestId"]:
            # A request closes once: the transaction of its delivery was aborted, which readers of the embedded broker do not see.
            known[key], latest[key] = before[key]
        elif kind == "delivered":
            before[key] = (known[key], latest.get(key, ((None, None), 0)))
            outcomes = devices if "devices" in value else {UNNAMED: "accepted"}
            kept = {phone: former for phone, former in known[key].items() if outcomes.get(phone) == "rejected"}
            known[key] = kept | {phone: entry for phone, outcome in outcomes.items() if outcome == "accepted"}
            latest[key] = entry
        elif kind == "removed":
            known.pop(key, None)
            latest.pop(key, None)
        elif kind == "device.attempted" and value.get("outcome") == "accepted" and key in latest:
            if latest[key][0][0] == value["requestId"]:
                known[key][value["device"]] = latest[key]
    consumer.close()
    return known


def differences() -> list[str]:
    found, known, shown = [], expected(), gateway.shown()
    for key in sorted(set(shown) | set(known)):
        on, entries, newest = shown.get(key, {}), known.get(key, {}), latest.get(key)
        recipient = key[0]
        for phone in sorted(set(on) | set(entries)):
            place = (recipient, phone)
            is_permitted = phone == UNNAMED or registered.get(place, {}).get("authorizationStatus") == "authorized"
            wanted = entries[phone][0] if phone in entries and is_permitted else None
            if on.get(phone) == wanted:
                continue
            # A phone that came, went or changed its permission since: it shows what was delivered, or nothing.
            is_new = newest is not None and (changed.get(place, 0) > newest[1] - 5 or UNNAMED in entries)
            if is_new and on.get(phone) in (None, newest[0]) and (is_permitted or on.get(phone) is None):
                continue
            found.append(f"{'/'.join(key)} on {phone}: shows {on.get(phone)}, the events say {wanted} ({registered.get(place)})")
            found += [f"    {line}" for line in gateway.history(key, phone)]
            found += [f"    {line}" for line in lines[key][-60:]]
    return found


actions = [(request, 70), (removal, 10), (registration, 8), (response, 12)]
if options.apns:
    actions += [(uninstallation, 1), (gateway.disturb, 2)]
for recipient in recipients[: len(recipients) * 2 // 3]:
    for name in names:
        registered[(recipient, name)] = gateway.registration(recipient, name) | {"authorizationStatus": "authorized"}
        write("devices", recipient, encode_key(application, recipient, name), registered[(recipient, name)])
producer.flush(30)
consumer, kills, begun = start(), 0, time.monotonic()
pauses = sorted(rng.uniform(0.2, 0.95) * options.seconds for _ in range(options.kills))
# A slow machine writes for longer: fewer requests would show little.
while time.monotonic() - begun < options.seconds or len(sent) <= 50:
    rng.choices([a for a, _ in actions], [weight for _, weight in actions])[0]()
    time.sleep(rng.uniform(0, 0.06))
    if pauses and time.monotonic() - begun > pauses[0]:
        pauses.pop(0)
        consumer.send_signal(signal.SIGKILL)
        consumer.wait()
        kills += 1
        if rng.random() < 0.3:
            gateway.kill()
        consumer = start()
    elif rng.random() < 0.001:
        gateway.kill()
if options.apns:
    gateway.kill()
producer.flush(30)
gateway.calm()
errors = []
deadline = time.monotonic() + 120
while gateway.seconds_at_rest() < 12:
    if consumer.poll() is not None:
        errors.append(f"the consumer service ended with {consumer.returncode}")
        break
    if time.monotonic() > deadline:
        errors.append("the gateway comes to no rest")
        break
    time.sleep(0.2)
result = differences()
consumer.terminate()
consumer.wait(30)
gateway.end()
print(
    json.dumps(
        {
            "requests": len(sent), "kills": kills, "sends": gateway.sends, "answers": gateway.answers, "events": kinds,
            "differences": result, "errors": errors + gateway.errors,
        }
    ),
    flush=True,
)
