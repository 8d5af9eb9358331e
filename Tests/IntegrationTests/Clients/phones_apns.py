"""`carillon apns-simulator` with bad days, and its phones, for phones.py.

The service reaches it through a forwarder of TCP, so that a simulator that was killed comes back only when its phones show again what
they showed: phones forget nothing when a push service ends.
"""

import collections
import json
import random
import socket
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import httpx

APP = "com.example.shop"

FAULTS = {
    "silent": {"effect": "silence", "share": 0.04},
    "late": {"effect": "delay", "seconds": 0.3, "share": 0.1},
    "too-late": {"effect": "delay", "seconds": 1.5, "share": 0.02},
    "refused-stream": {"effect": "refuseStream", "share": 0.03},
    "unavailable": {"effect": "answer", "reason": "ServiceUnavailable", "retryAfter": 1, "share": 0.05},
    "error": {"effect": "answer", "reason": "InternalServerError", "share": 0.03},
    "too-many": {"effect": "answer", "reason": "TooManyRequests", "retryAfter": 1, "share": 0.04},
    # What is removed, in the background, is never refused for good.
    "refused": {"effect": "answer", "reason": "PayloadEmpty", "pushType": "alert", "share": 0.03},
    "go-away": {"effect": "goAway", "share": 0.02},
    "cut": {"effect": "cut", "share": 0.02},
}


class Forwarder:
    """Passes bytes between a port that stays and one that changes."""

    def __init__(self) -> None:
        self.target: int | None = None
        self.is_open = threading.Event()
        self.lock = threading.Lock()
        self.sockets: set[socket.socket] = set()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            near, _ = self.listener.accept()
            try:
                if self.target is None:
                    raise OSError("there is no simulator")
                far = socket.create_connection(("127.0.0.1", self.target), timeout=5)
                far.settimeout(None)
                for end in (near, far):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except OSError:
                near.close()
                continue
            with self.lock:
                self.sockets |= {near, far}
            for one, other, waits in ((near, far, True), (far, near, False)):
                threading.Thread(target=self.pump, args=(one, other, waits), daemon=True).start()

    def pump(self, one: socket.socket, other: socket.socket, waits: bool) -> None:
        try:
            while data := one.recv(65_536):
                if waits:
                    self.is_open.wait()
                other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            self.close(end)

    def close(self, end: socket.socket) -> None:
        with self.lock:
            self.sockets.discard(end)
        try:
            # It wakes who waits for bytes.
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        end.close()

    def begin(self, target: int) -> None:
        self.target = target
        self.is_open.set()

    def pause(self) -> None:
        """From now on the simulator gets nothing more."""
        self.is_open.clear()

    def drop(self) -> None:
        """Ends all connections; what was held back is lost."""
        self.target = None
        with self.lock:
            sockets = list(self.sockets)
        for end in sockets:
            self.close(end)
        self.is_open.set()


class APNsGateway:
    def __init__(self, program: str, directory: str) -> None:
        self.program, self.directory = program, directory
        self.forwarders = {"production": Forwarder(), "development": Forwarder()}
        self.tokens: dict[tuple, str] = {}
        self.old: dict[tuple, list[str]] = collections.defaultdict(list)
        """Lines about the pushes that phones got from simulators that were killed."""
        self.answers: collections.Counter = collections.Counter()
        self.errors: list[str] = []
        self.earlier = self.requests = 0
        """Requests that simulators had which were killed, and this one."""
        self.last = time.monotonic()
        self.is_calm = False
        self.frozen: list[tuple[float, int]] = []
        self.start()
        file = f"{directory}/applications.yaml"
        with open(file, "w") as out:
            out.write(f"shop:\n  bundles: {APP}\n  team: SIMULATEAM\n  key: CARILLON01\n  key-file: {self.key}\n")
        self.environment = {
            "CARILLON_APNS_APPLICATIONS_FILE": file,
            "CARILLON_APNS_INTERNAL": "true",
            "CARILLON_APNS_PRODUCTION_URL": f"https://127.0.0.1:{self.forwarders['production'].port}",
            "CARILLON_APNS_DEVELOPMENT_URL": f"https://127.0.0.1:{self.forwarders['development'].port}",
            "CARILLON_EGRESS_CA_FILE": self.places["authority"],
        }

    # What phones.py asks for.

    @property
    def sends(self) -> int:
        return self.earlier + self.requests

    def registration(self, recipient: str, name: str) -> dict:
        """The app registers; after it was installed again with another token."""
        place = (recipient, name)
        if place not in self.tokens:
            self.tokens[place] = self.call("POST", f"{self.device(place)}/tokens", {"topic": APP})["token"]
        return {"platform": "apns", "token": self.tokens[place], "bundleIdentifier": APP}

    def uninstall(self, recipient: str, name: str) -> None:
        """The next push finds the token gone, or one after a while."""
        place = (recipient, name)
        if self.tokens.pop(place, None):
            self.call("DELETE", f"{self.device(place)}/apps/{APP}?toldAfter={random.choice([0, 0, 1])}")
            self.old[place].append(f"{clock()} uninstalled")

    def dismiss(self, recipient: str, identifier: str, request: str) -> str | None:
        """A person answers on a phone that shows the request, and the app takes it away."""
        showing = [(place, shown) for place, shown in self.screens() if origin(shown)[:2] == (identifier, request)]
        showing = [(place, shown) for place, shown in showing if place[0] == recipient]
        if not showing:
            return None
        place, shown = random.choice(showing)
        path = f"{self.device(place)}/apps/{APP}/notifications/{shown['identifier']}?id={shown['id']}"
        # Another one may have taken its place.
        if self.call("DELETE", path, missing=True) is None:
            return None
        self.old[place].append(f"{clock()} answered {request[:8]} {shown['id'][:8]}")
        return place[1]

    def disturb(self) -> None:
        """Something happens to a connection. One that was frozen never goes on: what was stuck in it must not come late."""
        now = time.monotonic()
        for item in [item for item in self.frozen if item[0] < now]:
            self.frozen.remove(item)
            self.call("DELETE", f"/v1/connections/{item[1]}", missing=True)
        connections = [c for c in self.call("GET", "/v1/connections")["connections"] if not c["frozen"]]
        if not connections:
            return
        number = random.choice(connections)["connection"]
        kind = random.choice(["goaway", "goaway", "cut", "freeze"])
        self.answers[f"connection {kind}"] += 1
        if kind == "cut":
            self.call("DELETE", f"/v1/connections/{number}", missing=True)
        elif kind == "freeze":
            self.call("POST", f"/v1/connections/{number}/freeze", missing=True)
            self.frozen.append((now + random.uniform(0.5, 3), number))
        else:
            self.call("POST", f"/v1/connections/{number}/goaway", {}, missing=True)

    def kill(self) -> bool:
        """Ends the simulator without notice, and starts it again."""
        for forwarder in self.forwarders.values():
            forwarder.pause()
        before = None
        while before != (now := self.statistics()):
            before = now
            time.sleep(0.05)
        kept = self.screens()
        for place in {(place[0], place[1]) for place in self.places_of_phones()}:
            self.old[place] += self.pushes(place) + [f"{clock()} the simulator is killed"]
        self.process.kill()
        self.process.wait()
        self.count(before)
        self.earlier, self.requests = self.earlier + before["requests"], 0
        for forwarder in self.forwarders.values():
            forwarder.drop()
        self.frozen = []
        self.start(kept)
        return True

    def calm(self) -> None:
        self.is_calm, self.last = True, time.monotonic()
        self.call("DELETE", "/v1/faults")
        for _, number in self.frozen:
            self.call("DELETE", f"/v1/connections/{number}", missing=True)

    def seconds_at_rest(self) -> float:
        if self.process.poll() is not None:
            self.errors.append(f"the simulator ended with {self.process.returncode}")
            return float("inf")
        requests = self.statistics()["requests"]
        if requests != self.requests:
            self.requests, self.last = requests, time.monotonic()
        return time.monotonic() - self.last

    def shown(self) -> dict[tuple, dict[str, tuple]]:
        found: dict[tuple, dict[str, tuple]] = collections.defaultdict(dict)
        for (recipient, name), shown in self.screens():
            identifier, request, occurrence = origin(shown)
            if name in found[(recipient, identifier)]:
                self.errors.append(f"{recipient}/{identifier} is on {name} twice")
            found[(recipient, identifier)][name] = (request, occurrence)
        return found

    def history(self, key: tuple, phone: str) -> list[str]:
        place = (key[0], phone)
        return (self.old[place] + self.pushes(place))[-40:]

    def end(self) -> None:
        self.count(self.statistics())
        self.process.terminate()
        self.process.wait(20)

    # Inside.

    def start(self, kept: list[tuple] = []) -> None:
        """Starts a simulator whose phones show what is given."""
        self.process = subprocess.Popen(
            [self.program, "apns-simulator", "--directory", f"{self.directory}/apns", "--production", "127.0.0.1:0"]
            + ["--development-port", "0", "--control-port", "0"],
            stdout=subprocess.PIPE,
        )
        self.places = {}
        while len(self.places) < 5:
            line = self.process.stdout.readline().decode()
            if not line:
                raise SystemExit("the simulator does not start")
            word, _, rest = line.strip().partition(" ")
            self.places[word] = rest.strip()
        self.key = self.places["key"].partition(" (")[0]
        for place, token in self.tokens.items():
            self.call("PUT", f"{self.device(place)}/tokens/{token}", {"topic": APP})
        self.show(kept)
        self.call("DELETE", "/v1/statistics")
        for name, fault in FAULTS.items() if not self.is_calm else ():
            self.call("PUT", f"/v1/faults/{name}", fault)
        for name, forwarder in self.forwarders.items():
            forwarder.begin(urllib.parse.urlsplit(self.places[name]).port)

    def show(self, kept: list[tuple]) -> None:
        if not kept:
            return
        authorization = self.call("POST", "/v1/keys/CARILLON01/tokens")["authorization"]
        trust = ssl.create_default_context(cafile=self.places["authority"])
        with httpx.Client(http2=True, verify=trust, base_url=self.places["production"]) as client:
            for place, shown in kept:
                if place not in self.tokens:
                    continue
                fields = {"authorization": authorization, "apns-topic": APP, "apns-push-type": "alert", "apns-id": shown["id"]}
                fields["apns-collapse-id"] = shown["identifier"]
                path = f"/3/device/{self.tokens[place]}"
                client.post(path, headers=fields, content=json.dumps(shown["payload"])).raise_for_status()

    def count(self, statistics: dict) -> None:
        self.answers.update({"accepted": statistics["accepted"], "simulators": 1, "cut": statistics["cuts"]})
        self.answers.update({"unanswered": statistics["unanswered"], "refused-stream": statistics["refusedStreams"]})
        self.answers.update({"go-away": statistics["goAways"]})
        self.answers.update(statistics["refused"])

    def statistics(self) -> dict:
        return self.call("GET", "/v1/statistics")

    def device(self, place: tuple) -> str:
        return f"/v1/devices/{place[0]}.{place[1]}"

    def places_of_phones(self) -> list[tuple]:
        devices = self.call("GET", "/v1/devices?limit=10000")["devices"]
        return [tuple(device["device"].split(".", 1)) for device in devices]

    def screens(self) -> list[tuple]:
        """(place, notification) in the order in which they were shown."""
        found = []
        for place in self.places_of_phones():
            for app in self.call("GET", self.device(place))["apps"]:
                found += [(place, shown) for shown in app["shown"]]
        return found

    def pushes(self, place: tuple) -> list[str]:
        answer = self.call("GET", f"{self.device(place)}/pushes", missing=True) or {"pushes": []}
        lines = []
        for push in answer["pushes"]:
            own = push["payload"].get("carillon", {})
            what = f"{own.get('requestId', '')[:8]} {own.get('sequence', own.get('remove'))}"
            lines.append(f"{push['receivedAt']} {push['effect']} {own.get('identifier', '')} {what} {push['id'][:8]}")
        return lines

    def call(self, method: str, path: str, body: dict | None = None, missing: bool = False):
        """Calls the control interface; nil for what is not there, if that is allowed."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.places["control"] + path, data, {"content-type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                text = answer.read()
                return json.loads(text) if text else {}
        except urllib.error.HTTPError as error:
            if missing and error.code == 404:
                return None
            raise SystemExit(f"{method} {path}: {error.code} {error.read().decode()}")


def origin(shown: dict) -> tuple:
    own = shown["payload"]["carillon"]
    return own["identifier"], own["requestId"], own.get("occurrence")


def clock() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + f".{int(time.time() * 1000) % 1000:03}Z"
