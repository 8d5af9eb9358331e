"""Receives webhooks: verifies each request on its own, and answers as the last line of standard input says.

Lines: a status; "429 N" with Retry-After; "hang"; "trickle"; "redirect"; "garbage"; "drop" (the connection ends without an answer);
"once" (accepts, and closes the connection). It prints {"port": n} at first, then for each request
{"mode", "key", "type", "requestId", "by", "subject", "devices", "actions", "traceparent", "cause", "errors"}; devices without
an outcome, or with the outcome "accepted" or "requested"; "cause" is the traceparent of the event.
"""

import argparse
import base64
import hashlib
import hmac
import json
import re
import sys
import threading
import time
import urllib.parse
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cloudevents.http import from_http

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--keys", nargs="+", required=True, help="the keys with whsec_; each must have signed")
parser.add_argument("--source", required=True)
options = parser.parse_args()

keys = [base64.b64decode(key.removeprefix("whsec_")) for key in options.keys]
mode = ["204"]
# What a device has that the request is for.
meant = (None, "accepted", "requested")
printing = threading.Lock()


def verify(headers, body: bytes) -> tuple[dict, dict, list[str]]:
    """The event, its data, and what is wrong with the request."""
    errors: list[str] = []

    def expect(condition: bool, what: str) -> None:
        if not condition:
            errors.append(what)

    event = from_http(dict(headers.items()), body)
    value = event.data
    names = {"carillon.notification.delivered.v1": "delivered", "carillon.notification.removed.v1": "removed"}
    name = names.get(event["type"], "")
    expect(name != "", f"type {event['type']}")
    expect(event["specversion"] == "1.0" and event["source"] == options.source, "attributes")
    subject = "/".join(urllib.parse.quote(value[part], safe="") for part in ("application", "recipient", "identifier"))
    expect(event["subject"] == subject, f"subject {event['subject']} of {subject}")
    expect(headers["content-type"] == "application/cloudevents+json", "content-type")
    expect(event["datacontenttype"] == "application/json", "datacontenttype")
    expect(not any(header.lower().startswith("ce-") for header in headers), "an attribute outside the signature")
    expect("idempotency-key" not in headers, "a second id to de-duplicate by")
    expect(event["id"] == headers["webhook-id"] == str(uuid.UUID(event["id"])), "id")
    expect(re.fullmatch(r"\d+-\d{12,}-\d{13,}", event["sequence"]) is not None, "sequence")
    expect(value["channel"] == "webhook", "channel")
    expect(("content" in value) == (name == "delivered"), "content")
    stamp = headers["webhook-timestamp"]
    expect(abs(time.time() - int(stamp)) < 300, "timestamp")
    signed = f"{headers['webhook-id']}.{stamp}.".encode() + body
    codes = [base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode() for key in keys]
    expect(headers["webhook-signature"] == " ".join(f"v1,{code}" for code in codes), "signature")
    return event, value, errors


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        how = mode[0]
        try:
            event, value, errors = verify(self.headers, body)
        except Exception as error:
            event, value, errors = {}, {}, [repr(error)]
        line = {
            "mode": how,
            "key": self.headers.get("webhook-id"),
            "type": event.get("type"),
            "requestId": value.get("requestId"),
            "by": value.get("by"),
            "subject": event.get("subject"),
            "devices": [d["device"] for d in value.get("devices", []) if d.get("outcome") in meant],
            "actions": [a["identifier"] for a in value.get("actions", [])],
            "traceparent": self.headers.get("traceparent"),
            "cause": event.get("traceparent"),
            "errors": errors,
        }
        with printing:
            print(json.dumps(line), flush=True)
        self.answer(how)

    def answer(self, how: str) -> None:
        word, _, rest = how.partition(" ")
        if word == "drop":
            self.close_connection = True
        elif word == "hang":
            # Until the other side ends the connection.
            self.rfile.read(1)
            self.close_connection = True
        elif word == "trickle":
            try:
                for byte in b"HTTP/1.1 200 OK\r\nx-slow: " + b"x" * 10_000:
                    self.wfile.write(bytes([byte]))
                    time.sleep(0.02)
            except OSError:
                pass
            self.close_connection = True
        elif word == "garbage":
            self.wfile.write(b"\x00\xff not HTTP at all\r\n\r\n")
            self.close_connection = True
        else:
            self.send_response(int({"redirect": 302, "once": 200}.get(word, word)))
            if rest:
                self.send_header("retry-after", rest)
            if word == "redirect":
                self.send_header("location", f"http://127.0.0.1:{self.server.server_port}/redirected")
            if word == "once":
                self.send_header("connection", "close")
            if word != "204":
                self.send_header("content-length", "2")
            self.end_headers()
            if word != "204":
                self.wfile.write(b"{}")

    def do_GET(self):
        with printing:
            print(json.dumps({"mode": "GET", "errors": ["a redirect was followed"]}), flush=True)
        self.answer("200")

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        # The other side may end a connection at any time.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


server = Server(("127.0.0.1", options.port), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"port": server.server_port}), flush=True)
for text in sys.stdin:
    mode[0] = text.strip()
    with printing:
        print(json.dumps({"changed": mode[0]}), flush=True)
