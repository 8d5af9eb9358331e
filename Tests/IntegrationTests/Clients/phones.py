"""Plays a gateway with bad days and the phones behind it, kills the consumer service now and then, and at rest compares what each
phone shows with the committed events.

The rule is what the gateway may do (design: an id that it knows may be ignored, and so may what is older than what it applied):
none, ids, sequence or both. It starts the consumer service itself, with its own environment and the webhook's address. It prints
one line of JSON: {"requests", "kills", "posts", "answers", "differences", "errors"}. The same seed makes the same inputs, not the same
interleaving.
"""

import argparse
import collections
import json
import os
import random
import signal
import subprocess
import threading
import time
import uuid
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from common import encode_key, partition_count, partition_of, reader
from confluent_kafka import Producer

parser = argparse.ArgumentParser()
parser.add_argument("--bootstrap", required=True)
parser.add_argument("--prefix", required=True, help="of the topics")
parser.add_argument("--seconds", type=float, default=30.0, help="how long inputs are written")
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--rule", choices=["none", "ids", "sequence", "both"], default="none")
parser.add_argument("--recipients", type=int, default=6)
parser.add_argument("--kills", type=int, default=4)
parser.add_argument("--consumer", required=True, help="the program")
options = parser.parse_args()

rng = random.Random(options.seed)
application = "shop"
unnamed = "*"
"""What stands for the phones that the gateway knows while none is registered."""


class Phones:
    """What each phone shows under each key, and what was applied there."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.shown: dict[tuple, dict[str, tuple]] = collections.defaultdict(dict)
        self.ids: set[str] = set()
        self.newest: dict[tuple, tuple] = {}
        self.posts = 0
        self.last = time.monotonic()
        self.answers: collections.Counter = collections.Counter()
        self.errors: list[str] = []
        self.history: dict[tuple, collections.deque] = collections.defaultdict(lambda: collections.deque(maxlen=12))

    def note(self, event: dict, mood: str) -> None:
        data = event["data"]
        names = [f"{d['device']}:{d.get('outcome')}" for d in data.get("devices", [])]
        self.history[(data["recipient"], data["identifier"])].append(
            f"{time.time() % 1000:.3f} {mood} {event['type'].split('.')[2]} {data['requestId'][:8]} {event['sequence']} {names} {event['id'][:8]}"
        )

    def apply(self, event: dict) -> None:
        data, name = event["data"], event["type"].split(".")[2]
        meant = {"delivered": "accepted", "removed": "requested"}[name]
        names = [d["device"] for d in data["devices"] if d.get("outcome", meant) == meant] if "devices" in data else [unnamed]
        sequence = tuple(int(part) for part in event["sequence"].split("-"))
        key = (data["recipient"], data["identifier"])
        if options.rule in ("ids", "both"):
            if event["id"] in self.ids:
                return
            self.ids.add(event["id"])
        for phone in names:
            if options.rule in ("sequence", "both"):
                if sequence < self.newest.get((key, phone), (0, 0, 0)):
                    continue
                self.newest[(key, phone)] = sequence
            if name == "delivered":
                self.shown[key][phone] = (data["requestId"], data.get("occurrence"))
            else:
                self.shown[key].pop(phone, None)
        # What it had before it was told of phones.
        if "devices" in data:
            self.shown[key].pop(unnamed, None)
        elif name == "removed":
            self.shown[key].clear()


phones = Phones()
is_calm = threading.Event()
moods = {
    "204": 60, "503": 6, "500": 3, "429": 4, "401": 2, "422": 3, "drop": 4, "hang": 3, "applied-drop": 6, "applied-hang": 4, "late": 4,
}


class Gateway(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        event = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with phones.lock:
            mood = "204" if is_calm.is_set() else random.choices(list(moods), list(moods.values()))[0]
            # What is removed is never refused for good.
            if mood == "422" and event["type"].split(".")[2] == "removed":
                mood = "204"
            phones.posts += 1
            phones.last = time.monotonic()
            phones.answers[mood] += 1
            phones.note(event, mood)
            if mood in ("204", "applied-drop", "applied-hang", "late"):
                try:
                    phones.apply(event)
                except Exception as error:
                    phones.errors.append(repr(error))
        if mood == "late":
            time.sleep(0.3)
        if mood in ("hang", "applied-hang"):
            time.sleep(1.0)
        if mood in ("drop", "applied-drop", "hang", "applied-hang"):
            self.close_connection = True
            return
        self.send_response(204 if mood == "late" else int(mood))
        if mood == "429":
            self.send_header("retry-after", "1")
        if mood not in ("204", "late"):
            self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address) -> None:
        # The other side may end a connection at any time.
        pass


server = Server(("127.0.0.1", 0), Gateway)
threading.Thread(target=server.serve_forever, daemon=True).start()
environment = os.environ | {"CARILLON_WEBHOOK_URL": f"http://127.0.0.1:{server.server_port}/"}
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
touched: set[tuple] = set()
"""What a person has answered: (recipient, identifier, request)."""
kinds: collections.Counter = collections.Counter()


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
    registered[place] = {"platform": "fcm", "token": f"{recipient}/{name}", "authorizationStatus": status}
    write("devices", recipient, key, registered[place])


def response() -> None:
    if not sent:
        return
    recipient, identifier, id = rng.choice(sent[-8:])
    with phones.lock:
        showing = [name for name, shown in phones.shown[(recipient, identifier)].items() if shown[0] == id and name != unnamed]
        if not showing:
            return
        device = rng.choice(showing)
        # The app takes it away.
        del phones.shown[(recipient, identifier)][device]
    touched.add((recipient, identifier, id))
    body = {
        "application": application, "identifier": identifier, "requestId": id, "responseId": str(uuid.uuid4()), "device": device,
        "actionIdentifier": "default",
    }
    write("signals", recipient, encode_key(recipient), body, [("ce_type", b"carillon.signal.response.v1")])


def expected() -> dict[tuple, dict]:
    """By key: what was delivered last and not removed since, and the phones that the events name."""
    consumer, known, last = reader(options.bootstrap, [topics["deliveries"]]), {}, time.monotonic()
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
        if kind == "delivered":
            accepted = [d["device"] for d in value["devices"] if d["outcome"] == "accepted"] if "devices" in value else [unnamed]
            at = datetime.fromisoformat(headers["ce_time"]).timestamp()
            known[key] = {"shown": (value["requestId"], value.get("occurrence")), "phones": accepted, "at": at}
        elif kind == "removed":
            known.pop(key, None)
        elif kind == "device.attempted" and value.get("outcome") == "accepted" and key in known:
            if known[key]["shown"][0] == value["requestId"]:
                known[key]["phones"].append(value["device"])
    consumer.close()
    return known


def differences() -> list[str]:
    found, known = [], expected()
    with phones.lock:
        shown = {key: dict(value) for key, value in phones.shown.items() if value}
    for key in sorted(set(shown) | set(known)):
        on, entry = shown.get(key, {}), known.get(key)
        recipient = key[0]
        for phone in sorted(set(on) | set(entry["phones"] if entry else [])):
            place = (recipient, phone)
            is_permitted = phone == unnamed or registered.get(place, {}).get("authorizationStatus") == "authorized"
            wanted = entry["shown"] if entry and phone in entry["phones"] and is_permitted else None
            if on.get(phone) == wanted:
                continue
            # A phone that came, went or changed its permission since: it shows what was delivered, or nothing.
            is_new = entry is not None and (changed.get(place, 0) > entry["at"] - 5 or unnamed in entry["phones"])
            if is_new and on.get(phone) in (None, entry["shown"]) and (is_permitted or on.get(phone) is None):
                continue
            found.append(f"{'/'.join(key)} on {phone}: shows {on.get(phone)}, the events say {wanted} ({registered.get(place)})")
            found += [f"    {line}" for line in phones.history[key]]
    return found


actions = [(request, 70), (removal, 10), (registration, 8), (response, 12)]
for recipient in recipients[: len(recipients) * 2 // 3]:
    for name in names:
        registered[(recipient, name)] = {"platform": "fcm", "token": f"{recipient}/{name}", "authorizationStatus": "authorized"}
        write("devices", recipient, encode_key(application, recipient, name), registered[(recipient, name)])
producer.flush(30)
consumer, kills, begun = start(), 0, time.monotonic()
pauses = sorted(rng.uniform(0.2, 0.95) * options.seconds for _ in range(options.kills))
while time.monotonic() - begun < options.seconds:
    rng.choices([a for a, _ in actions], [weight for _, weight in actions])[0]()
    time.sleep(rng.uniform(0, 0.06))
    if pauses and time.monotonic() - begun > pauses[0]:
        pauses.pop(0)
        consumer.send_signal(signal.SIGKILL)
        consumer.wait()
        kills += 1
        consumer = start()
producer.flush(30)
is_calm.set()
errors = []
deadline = time.monotonic() + 120
phones.last = time.monotonic()
while time.monotonic() - phones.last < 12:
    if consumer.poll() is not None:
        errors.append(f"the consumer service ended with {consumer.returncode}")
        break
    if time.monotonic() > deadline:
        errors.append("the webhook comes to no rest")
        break
    time.sleep(0.2)
result = differences()
consumer.terminate()
consumer.wait(30)
print(
    json.dumps(
        {
            "requests": len(sent), "kills": kills, "posts": phones.posts, "answers": phones.answers, "events": kinds,
            "differences": result, "errors": errors + phones.errors,
        }
    ),
    flush=True,
)
