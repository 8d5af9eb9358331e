#!/usr/bin/env python3
"""A browser and a sender for `carillon webpush-simulator`, of other hands: the websockets library, http_ece and py-vapid.

usage: webpush_simulator.py ENDPOINTS BROWSERS CONTROL AUTHORITY

It ends with status 0, or says what is wrong.
"""

import base64
import json
import os
import ssl
import sys
import time

import http_ece
import httpx
import websockets.sync.client
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from py_vapid import Vapid02


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def point(key):
    return key.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


class Browser:
    def __init__(self, address, uaid=None):
        self.socket = websockets.sync.client.connect(address, subprotocols=["push-notification"], proxy=None)
        self.uaid = self.ask({"messageType": "hello", "use_webpush": True, **({"uaid": uaid} if uaid else {})})["uaid"]

    def ask(self, message):
        self.socket.send(json.dumps(message))
        return self.read()

    def read(self):
        return json.loads(self.socket.recv(timeout=60))


def main():
    origin, browsers, control, authority = sys.argv[1:]
    client = httpx.Client(verify=ssl.create_default_context(cafile=authority), timeout=60)
    vapid = Vapid02()
    vapid.generate_keys()
    key, secret = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
    browser = Browser(browsers)
    channel = "0d8f9a44-0000-4000-8000-000000000001"
    answer = browser.ask({"messageType": "register", "channelID": channel, "key": encoded(point(vapid.private_key))})
    endpoint = answer["pushEndpoint"]
    assert answer["status"] == 200 and endpoint.startswith(f"{origin}/push/"), answer

    def send(text, ttl="60", topic=None, signed=True):
        body = http_ece.encrypt(text, private_key=ec.generate_private_key(ec.SECP256R1()), dh=point(key), auth_secret=secret,
                                version="aes128gcm")
        headers = {"ttl": ttl, "content-encoding": "aes128gcm"}
        if signed:
            headers |= vapid.sign({"aud": origin, "sub": "mailto:a@example.com", "exp": int(time.time()) + 3600})
        if topic:
            headers["topic"] = topic
        return client.post(endpoint, content=body, headers=headers)

    def received(message):
        data = message["data"]
        data = base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))
        return http_ece.decrypt(data, private_key=key, auth_secret=secret, version="aes128gcm")

    # A message arrives, and is gone once it is acknowledged.
    answer = send(b"hello", ttl="9999999")
    assert (answer.status_code, answer.headers["ttl"]) == (201, "2592000"), answer
    message = browser.read()
    assert (message["messageType"], message["channelID"], received(message)) == ("notification", channel, b"hello")
    assert message["headers"] == {"encoding": "aes128gcm"}
    update = {"channelID": channel, "version": message["version"], "code": 100}
    browser.socket.send(json.dumps({"messageType": "ack", "updates": [update]}))
    assert browser.ask({}) == {}
    assert client.delete(answer.headers["location"]).status_code == 404
    assert send(b"x", signed=False).status_code == 401

    # While the browser is away, its sender takes one message back, and another one replaces itself.
    browser.socket.close()
    while client.get(f"{control}/v1/browsers").json()["browsers"][0]["connected"]:
        time.sleep(0.02)
    back = send(b"taken back").headers["location"]
    send(b"old", topic="score")
    send(b"new", topic="score")
    assert send(b"only now", ttl="0").status_code == 201
    assert client.delete(back).status_code == 204 and client.delete(back).status_code == 404
    browser = Browser(browsers, browser.uaid)
    message = browser.read()
    assert received(message) == b"new", received(message)
    browser.socket.send(json.dumps({"messageType": "ack", "updates": [{"channelID": channel, "version": message["version"]}]}))
    assert browser.ask({}) == {}

    # Who unsubscribes gets no more.
    assert browser.ask({"messageType": "unregister", "channelID": channel})["status"] == 200
    answer = send(b"gone")
    assert (answer.status_code, answer.json()["errno"]) == (410, 106), answer
    assert client.post(f"{origin}/push/never", headers={"ttl": "1"}).status_code == 404
    statistics = client.get(f"{control}/v1/statistics").json()
    assert statistics["deleted"] == 1 and statistics["unreadable"] == 0, statistics


if __name__ == "__main__":
    main()
