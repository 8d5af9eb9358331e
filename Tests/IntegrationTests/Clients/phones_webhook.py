"""A gateway behind the channel `webhook` with bad days, and the phones behind it, for phones.py.

What it may do is its rule (design: an id that it knows may be ignored, and so may what is older than what it applied): none, ids,
sequence or both.
"""

import collections
import json
import random
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

UNNAMED = "*"
"""What stands for the phones that the gateway knows while none is registered."""

MOODS = {
    "204": 60, "503": 6, "500": 3, "429": 4, "401": 2, "422": 3, "drop": 4, "hang": 3, "applied-drop": 6, "applied-hang": 4, "late": 4,
}


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address) -> None:
        # The other side may end a connection at any time.
        pass


class WebhookGateway:
    """What each phone shows under each key, and what was applied there."""

    def __init__(self, rule: str) -> None:
        self.rule = rule
        self.lock = threading.Lock()
        self.on: dict[tuple, dict[str, tuple]] = collections.defaultdict(dict)
        self.ids: set[str] = set()
        self.newest: dict[tuple, tuple] = {}
        self.sends = 0
        self.last = time.monotonic()
        self.answers: collections.Counter = collections.Counter()
        self.errors: list[str] = []
        self.notes: dict[tuple, collections.deque] = collections.defaultdict(lambda: collections.deque(maxlen=12))
        self.is_calm = False
        server = Server(("127.0.0.1", 0), self.handler())
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.environment = {"CARILLON_WEBHOOK_URL": f"http://127.0.0.1:{server.server_port}/"}

    # What phones.py asks for.

    def registration(self, recipient: str, name: str) -> dict:
        return {"platform": "fcm", "token": f"{recipient}/{name}"}

    def dismiss(self, recipient: str, identifier: str, request: str) -> str | None:
        """A person answers on a phone that shows the request, and the app takes it away."""
        with self.lock:
            showing = [n for n, shown in self.on[(recipient, identifier)].items() if shown[0] == request and n != UNNAMED]
            if not showing:
                return None
            phone = random.choice(showing)
            del self.on[(recipient, identifier)][phone]
            return phone

    def disturb(self) -> None:
        """Its moods are enough."""

    def kill(self) -> bool:
        """It has no process of its own."""
        return False

    def calm(self) -> None:
        self.is_calm, self.last = True, time.monotonic()

    def seconds_at_rest(self) -> float:
        return time.monotonic() - self.last

    def shown(self) -> dict[tuple, dict[str, tuple]]:
        with self.lock:
            return {key: dict(value) for key, value in self.on.items() if value}

    def history(self, key: tuple, phone: str) -> list[str]:
        return list(self.notes[key])

    def end(self) -> None:
        """It ends with the process."""

    # Inside.

    def note(self, event: dict, mood: str) -> None:
        data = event["data"]
        names = [f"{d['device']}:{d.get('outcome')}" for d in data.get("devices", [])]
        self.notes[(data["recipient"], data["identifier"])].append(
            f"{time.time() % 1000:.3f} {mood} {event['type'].split('.')[2]} {data['requestId'][:8]} {event['sequence']} {names} {event['id'][:8]}"
        )

    def apply(self, event: dict) -> None:
        data, name = event["data"], event["type"].split(".")[2]
        meant = {"delivered": "accepted", "removed": "requested"}[name]
        names = [d["device"] for d in data["devices"] if d.get("outcome", meant) == meant] if "devices" in data else [UNNAMED]
        sequence = tuple(int(part) for part in event["sequence"].split("-"))
        key = (data["recipient"], data["identifier"])
        if self.rule in ("ids", "both"):
            if event["id"] in self.ids:
                return
            self.ids.add(event["id"])
        for phone in names:
            if self.rule in ("sequence", "both"):
                if sequence < self.newest.get((key, phone), (0, 0, 0)):
                    continue
                self.newest[(key, phone)] = sequence
            if name == "delivered":
                self.on[key][phone] = (data["requestId"], data.get("occurrence"))
            else:
                self.on[key].pop(phone, None)
        # What it had before it was told of phones.
        if "devices" in data:
            self.on[key].pop(UNNAMED, None)
        elif name == "removed":
            self.on[key].clear()

    def receive(self, event: dict) -> str:
        with self.lock:
            mood = "204" if self.is_calm else random.choices(list(MOODS), list(MOODS.values()))[0]
            # What is removed is never refused for good.
            if mood == "422" and event["type"].split(".")[2] == "removed":
                mood = "204"
            self.sends += 1
            self.last = time.monotonic()
            self.answers[mood] += 1
            self.note(event, mood)
            if mood in ("204", "applied-drop", "applied-hang", "late"):
                try:
                    self.apply(event)
                except Exception as error:
                    self.errors.append(repr(error))
            return mood

    def handler(gateway) -> type:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                mood = gateway.receive(json.loads(self.rfile.read(int(self.headers["content-length"]))))
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

        return Handler
