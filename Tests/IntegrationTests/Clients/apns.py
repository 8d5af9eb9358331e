"""Plays APNs: HTTP/2 over TLS, with the rules that a gateway can break.

apns.py --ca FILE --key FILE: it writes the certificate that it can be known by, and the private key that gateways sign their
provider tokens with. A device token says what happens: one that begins with `dead` is gone (410), one with `bad` is refused (400), one
with `b057` is refused twice (503) before it is accepted; the first push of all finds the provider token expired (403).

It prints {"port": n} at first, then for each push {"token", "status", "reason", "headers", "payload"}. `shown` of an accepted alert
lists what the device shows then, by identifier.
"""

import argparse
import datetime
import ipaddress
import json
import re
import socket
import ssl
import tempfile
import threading
import time

import h2.config
import h2.connection
import h2.events
import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

parser = argparse.ArgumentParser()
parser.add_argument("--ca", required=True)
parser.add_argument("--key", required=True)
options = parser.parse_args()

KEY_ID, TEAM_ID, TOPIC = "ABC123DEFG", "DEF123GHIJ", "com.example.shop"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LEVELS = ("passive", "active", "time-sensitive", "critical")


def pem(key) -> bytes:
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def make_certificate() -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "APNs of the tests")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
        .public_bytes(serialization.Encoding.PEM)
    )
    with open(options.ca, "wb") as file:
        file.write(certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["h2"])
    with tempfile.NamedTemporaryFile() as file:
        file.write(certificate + pem(key))
        file.flush()
        context.load_cert_chain(file.name)
    return context


signing = ec.generate_private_key(ec.SECP256R1())
with open(options.key, "wb") as file:
    file.write(pem(signing))

lock = threading.Lock()
seen: dict[str, int] = {}
# By device token what is shown, and by identifier the newest.
shown: dict[str, dict[str, str]] = {}
has_expired = [False]


def authorization(headers: dict) -> str | None:
    """Why a provider token is refused."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme != "bearer":
        return "MissingProviderToken"
    try:
        claims = jwt.decode(token, signing.public_key(), algorithms=["ES256"], options={"verify_aud": False})
    except jwt.PyJWTError:
        return "InvalidProviderToken"
    if jwt.get_unverified_header(token).get("kid") != KEY_ID or claims.get("iss") != TEAM_ID:
        return "InvalidProviderToken"
    if abs(time.time() - claims["iat"]) > 3600:
        return "ExpiredProviderToken"
    if not has_expired[0]:
        has_expired[0] = True
        return "ExpiredProviderToken"
    return None


def refusal(headers: dict, body: bytes) -> tuple[int, str] | None:
    """What is wrong with a push, as APNs says it, or as it would silently do something else."""
    if len(body) > 4096:
        return 413, "PayloadTooLarge"
    if headers.get("apns-topic") != TOPIC:
        return 400, "BadTopic"
    if not UUID.fullmatch(headers.get("apns-id", "")):
        return 400, "BadMessageId"
    if not 1 <= len(headers.get("apns-collapse-id", "-").encode()) <= 64:
        return 400, "BadCollapseId"
    if headers.get("apns-priority") not in ("1", "5", "10"):
        return 400, "BadPriority"
    if not headers.get("apns-expiration", "0").isdigit():
        return 400, "BadExpirationDate"
    payload = json.loads(body)
    aps = payload.get("aps")
    if not isinstance(aps, dict) or not aps:
        return 400, "PayloadEmpty"
    kind = headers.get("apns-push-type")
    if kind == "background":
        is_right = aps.get("content-available") == 1 and headers["apns-priority"] != "10" and set(aps) == {"content-available"}
    else:
        is_right = kind == "alert" and "content-available" not in aps and bool({"alert", "sound", "badge"} & set(aps))
    if not is_right:
        return 400, "InvalidPushType"
    if aps.get("interruption-level", "active") not in LEVELS:
        return 400, "BadInterruptionLevel"
    return None


def answer(path: str, headers: dict, body: bytes) -> tuple[int, dict]:
    token = path.removeprefix("/3/device/")
    reason = authorization(headers)
    if reason:
        return 403, {"reason": reason}
    found = refusal(headers, body)
    if found:
        return found[0], {"reason": found[1]}
    seen[token] = seen.get(token, 0) + 1
    if token.startswith("dead"):
        return 410, {"reason": "Unregistered", "timestamp": int(time.time() * 1000)}
    if token.startswith("bad"):
        return 400, {"reason": "BadDeviceToken"}
    if token.startswith("b057") and seen[token] <= 2:
        return 503, {"reason": "ServiceUnavailable"}
    return 200, {}


def receive(path: str, headers: dict, body: bytes) -> tuple[int, dict]:
    with lock:
        status, reply = answer(path, headers, body)
        token = path.removeprefix("/3/device/")
        line = {"token": token, "status": status, "reason": reply.get("reason"), "headers": headers}
        line["headers"].pop("authorization", None)
        line["payload"] = json.loads(body)
        if status == 200:
            screen = shown.setdefault(token, {})
            # A push from the command line has nothing of a gateway.
            own = line["payload"].get("carillon", {})
            if headers["apns-push-type"] == "alert":
                title = line["payload"]["aps"].get("alert", {}).get("title", "")
                screen[headers.get("apns-collapse-id", "")] = (title, own.get("sequence", ""))
            # As the app does: what was delivered after the removal stays.
            for identifier, sequence in own.get("remove", {}).items():
                if identifier in screen and screen[identifier][1] <= sequence:
                    del screen[identifier]
            line["shown"] = sorted(title for title, _ in screen.values())
        print(json.dumps(line), flush=True)
        return status, reply


def serve(raw: socket.socket, context: ssl.SSLContext) -> None:
    try:
        with context.wrap_socket(raw, server_side=True) as connection:
            speak(connection)
    except OSError:
        pass


def speak(connection: ssl.SSLSocket) -> None:
    state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
    state.initiate_connection()
    connection.sendall(state.data_to_send())
    heads: dict[int, dict] = {}
    bodies: dict[int, bytearray] = {}
    while data := connection.recv(65_536):
        for event in state.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                heads[event.stream_id], bodies[event.stream_id] = dict(event.headers), bytearray()
            elif isinstance(event, h2.events.DataReceived):
                bodies[event.stream_id] += event.data
                state.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                head = heads.pop(event.stream_id)
                fields = {name: value for name, value in head.items() if name.startswith("apns-") or name == "authorization"}
                status, reply = receive(head[":path"], fields, bytes(bodies.pop(event.stream_id)))
                answer = [(":status", str(status)), ("apns-id", head.get("apns-id", ""))]
                state.send_headers(event.stream_id, answer, end_stream=not reply)
                if reply:
                    state.send_data(event.stream_id, json.dumps(reply).encode(), end_stream=True)
        connection.sendall(state.data_to_send())


context = make_certificate()
listener = socket.create_server(("127.0.0.1", 0), backlog=64)
print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
while True:
    accepted, _ = listener.accept()
    threading.Thread(target=serve, args=(accepted, context), daemon=True).start()
