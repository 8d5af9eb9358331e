#!/usr/bin/env python3
"""A push service of Web Push, and its browsers, for tests: messages are decrypted by http_ece, tokens verified by py-vapid.

usage: push_service.py CERTIFICATE KEY

Prints the port that it listens on with TLS. Browsers are made and asked at /control:
  POST   /control/browsers/NAME      a new subscription; answers it as JSON, as PushSubscription.toJSON() does
  GET    /control/browsers/NAME      what the browser shows, and what was sent to it
  DELETE /control/browsers/NAME      unsubscribes: its endpoint answers 410
"""
import base64
import http.server
import json
import os
import ssl
import sys
import threading
import time

import http_ece
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from py_vapid import Vapid02
from py_vapid.utils import b64urldecode


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Browser:
    """One subscription, and a service worker that does as that of deploy/examples/webpush."""

    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.auth = os.urandom(16)
        self.path = "/push/" + encoded(os.urandom(16))
        self.is_gone = False
        self.shown = {}
        self.messages = []

    def subscription(self, port):
        point = self.key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
        return {"endpoint": f"https://127.0.0.1:{port}{self.path}", "expirationTime": None,
                "keys": {"p256dh": encoded(point), "auth": encoded(self.auth)}}

    def receive(self, body, headers, claims):
        text = http_ece.decrypt(body, private_key=self.key, auth_secret=self.auth, version="aes128gcm")
        message = json.loads(text)
        self.messages.append({"bytes": len(text), "message": message, "headers": headers, "claims": claims})
        for tag, sequence in message.get("carillon", {}).get("remove", {}).items():
            if tag in self.shown and self.shown[tag]["data"]["carillon"]["sequence"] <= sequence:
                del self.shown[tag]
        if "notification" in message:
            assert message["web_push"] == 8030 and message["notification"]["navigate"].startswith("https://")
            self.shown[message["notification"]["tag"]] = message["notification"]


browsers, lock = {}, threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body=None, headers=()):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def claims(self):
        """What the token says, once its signature and its claims are good."""
        scheme, _, rest = self.headers["authorization"].partition(" ")
        fields = dict(part.strip().split("=", 1) for part in rest.split(","))
        head, claims, _ = fields["t"].split(".")
        claims = json.loads(b64urldecode(claims.encode()))
        assert scheme == "vapid" and json.loads(b64urldecode(head.encode()))["alg"] == "ES256"
        assert Vapid02.verify(self.headers["authorization"].replace(", ", ",")), "the signature is wrong"
        assert claims["aud"] == f"https://127.0.0.1:{self.server.server_port}", claims
        assert time.time() < claims["exp"] <= time.time() + 24 * 3600, claims
        assert claims["sub"].startswith(("mailto:", "https:")), claims
        return claims

    def push(self, body):
        browser = next((one for one in browsers.values() if one.path == self.path), None)
        if browser is None:
            return self.answer(404)
        if browser.is_gone:
            return self.answer(410)
        try:
            claims = self.claims()
        except Exception as error:
            return self.answer(401, {"reason": "BadJwtToken", "detail": repr(error)})
        headers = {name: self.headers[name] for name in ("ttl", "topic", "urgency", "content-encoding")}
        try:
            assert 0 <= int(headers["ttl"]) <= 2_592_000 and headers["content-encoding"] == "aes128gcm"
            assert len(headers["topic"]) <= 32
            browser.receive(body, headers, claims)
        except Exception as error:
            return self.answer(400, {"detail": repr(error)})
        self.answer(201, headers=[("location", f"/message/{len(browser.messages)}"), ("ttl", headers["ttl"])])

    def control(self, method):
        name = self.path.rpartition("/")[2]
        if method == "POST":
            browsers[name] = Browser()
            return self.answer(201, browsers[name].subscription(self.server.server_port))
        browser = browsers.get(name)
        if browser is None:
            return self.answer(404)
        if method == "DELETE":
            browser.is_gone = True
            return self.answer(200)
        self.answer(200, {"shown": list(browser.shown.values()), "messages": browser.messages})

    def handle_one(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        with lock:
            if self.path.startswith("/control/browsers/"):
                self.control(self.command)
            elif self.command == "POST":
                self.push(body)
            else:
                self.answer(405)

    do_POST = do_GET = do_DELETE = handle_one


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def finish_request(self, request, client_address):
        # The handshake is the thread's, so that nobody else waits for it.
        request.settimeout(60)
        request.do_handshake()
        super().finish_request(request, client_address)


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server = Server(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print(server.server_port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # It ends with the test that started it.
    sys.stdin.read()


if __name__ == "__main__":
    main()
