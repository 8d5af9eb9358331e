#!/usr/bin/env python3
"""A gateway between Carillon and APNs: it reads the events of `deliveries`, pushes to the devices that they list, and reports what
became of it.

    pip install -r requirements.txt
    gateway.py --bootstrap localhost:9092 --carillon https://notify.example.com --token-file token \\
      --key AuthKey_ABC123DEFG.p8 --key-id ABC123DEFG --team-id DEF123GHIJ

It needs a token with the role `signal`. Events are committed when all of their devices are done, so an event may be handled again
after a crash; its collapse id makes the repeat replace itself. The page "Writing a gateway" explains it.
"""

import argparse
import asyncio
import json
import logging
import random
import signal
import ssl
import time
import urllib.parse
from collections import OrderedDict

import httpx
import jwt
from confluent_kafka import Consumer, KafkaException, TopicPartition

import payload

log = logging.getLogger("gateway")

HOSTS = {"production": "https://api.push.apple.com", "development": "https://api.sandbox.push.apple.com"}
# Events that are not done: beyond it nothing is read.
MOST_UNFINISHED = 1_000
# Ids of events that were done.
MOST_KNOWN = 100_000
# Seconds for which APNs is tried, if the notification does not expire before.
PATIENCE = 600
# Seconds after which Apple accepts a new provider token, and before it refuses the old one.
TOKEN_LIFE = 50 * 60


class Connection:
    """One to APNs; once it is retired it ends with its last push."""

    def __init__(self, context: ssl.SSLContext):
        limits = httpx.Limits(max_connections=1)
        self.client = httpx.AsyncClient(http1=False, http2=True, verify=context, timeout=30, limits=limits)
        self.pushes, self.is_retired = 0, False

    async def post(self, url: str, headers: dict, body: bytes) -> httpx.Response:
        self.pushes += 1
        try:
            return await self.client.post(url, headers=headers, content=body)
        finally:
            self.pushes -= 1
            await self.end_if_unused()

    async def retire(self) -> None:
        self.is_retired = True
        await self.end_if_unused()

    async def end_if_unused(self) -> None:
        if self.is_retired and self.pushes == 0:
            await self.client.aclose()


class APNs:
    """One connection for each host, and the provider token that they share."""

    def __init__(self, options):
        self.options = options
        with open(options.key) as file:
            self.key = file.read()
        self.context = ssl.create_default_context(cafile=options.apns_ca)
        self.connections: dict[str, Connection] = {}
        self.token, self.minted = "", 0.0

    def bearer(self) -> str:
        if time.time() - self.minted > TOKEN_LIFE:
            self.minted = time.time()
            claims = {"iss": self.options.team_id, "iat": int(self.minted)}
            self.token = jwt.encode(claims, self.key, algorithm="ES256", headers={"kid": self.options.key_id})
        return self.token

    async def push(self, device: dict, headers: dict, body: bytes) -> tuple[int, dict]:
        """The status of APNs and its answer; 0 when there is none."""
        host = self.options.apns or HOSTS[device.get("environment", "production")]
        for is_last in (False, True):
            connection = self.connections.get(host)
            if connection is None:
                connection = self.connections[host] = Connection(self.context)
            try:
                sent = headers | {"authorization": f"bearer {self.bearer()}"}
                answer = await connection.post(f"{host}/3/device/{device['token']}", sent, body)
                found = answer.json() if answer.content else {}
            except (httpx.HTTPError, ValueError) as error:
                return 0, {"reason": type(error).__name__}
            if is_last or found.get("reason") != "ExpiredProviderToken":
                return answer.status_code, found
            # APNs goes on refusing on this connection. The first push that is told so replaces connection and token.
            if self.connections.get(host) is connection:
                del self.connections[host]
                self.minted = 0
                await connection.retire()
        raise AssertionError

    async def close(self) -> None:
        for connection in self.connections.values():
            await connection.retire()


class Carillon:
    """The HTTP interface of the producer service."""

    def __init__(self, options):
        headers = {}
        if options.token_file:
            with open(options.token_file) as file:
                headers["authorization"] = f"Bearer {file.read().strip()}"
        self.client = httpx.AsyncClient(base_url=options.carillon, headers=headers, timeout=30)

    async def tell(self, kind: str, event: dict, body: dict) -> None:
        """Sends a signal, until the service has it. A signal that it refuses is logged: it is a fault of this program."""
        path = f"/v1/recipients/{urllib.parse.quote(event['recipient'], safe='')}/{kind}"
        pause = 0.5
        while True:
            try:
                answer = await self.client.post(path, params={"application": event["application"]}, json=body)
                if answer.status_code < 500 and answer.status_code != 429:
                    break
            except httpx.HTTPError as error:
                log.warning("Carillon does not answer: %s", error)
                answer = None
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(pause * 2, 30)
        if answer.status_code != 202:
            log.error("Carillon refuses a %s: %s", kind, answer.text)

    async def report(self, event: dict, device: str, outcome: str, reason: str | None = None) -> None:
        body = {"identifier": event["identifier"], "requestId": event["requestId"], "device": device, "outcome": outcome}
        await self.tell("reports", event, body | ({"reason": reason} if reason else {}))


class Gateway:
    def __init__(self, options):
        self.apns, self.carillon = APNs(options), Carillon(options)
        # What is newest for a notification and device: it takes the place of what still waits for another attempt.
        self.newest: dict[tuple[str, str], object] = {}
        self.locks: dict[tuple[str, str], asyncio.Lock] = {}
        self.known: OrderedDict[str, None] = OrderedDict()

    # ---- Events

    async def handle(self, type: str, id: str, event: dict, sequence: str) -> None:
        """Handles an event: all of its devices at once. Of the events of a key, a later one has a greater sequence."""
        if id in self.known:
            return
        actions = []
        # Of the devices that were given it; the others say why they were left out.
        if type == "carillon.notification.delivered.v1" and event.get("channel") == "events":
            for device in self.reachable(event, lambda device: device["outcome"] == "accepted"):
                actions.append(self.deliver(event, device, id, sequence))
        # Without an outcome no channel has asked the device: that is for the gateway to do.
        elif type == "carillon.notification.removed.v1":
            for device in self.reachable(event, lambda device: "outcome" not in device):
                actions.append(self.remove(event, device, event["identifier"], id, sequence))
        # The device belongs to somebody else, or was deleted; with a token that is gone there is no way to it.
        elif type == "carillon.device.retired.v1" and event.get("reason") != "unregistered":
            for device in self.reachable({"devices": [event]}, lambda _: True):
                for identifier in event.get("shows", []):
                    actions.append(self.remove(event, device, identifier, id, sequence))
        await asyncio.gather(*actions)
        self.known[id] = None
        while len(self.known) > MOST_KNOWN:
            self.known.popitem(last=False)

    @staticmethod
    def reachable(event: dict, condition) -> list[dict]:
        """Devices of this gateway's platform whose registration the event has."""
        return [
            device
            for device in event.get("devices", [])
            if device.get("platform") == "apns" and "token" in device and "bundleIdentifier" in device and condition(device)
        ]

    async def deliver(self, event: dict, device: dict, id: str, sequence: str) -> None:
        name = device["device"]
        headers, body = payload.delivery(event, device, id, sequence)
        if len(body) > payload.LONGEST:
            return await self.carillon.report(event, name, "rejected", "PayloadTooLarge")
        deadline = time.time() + PATIENCE
        if "expiration" in event:
            deadline = min(deadline, payload.epoch(event["expiration"]))

        async def deferred(reason: str) -> None:
            await self.carillon.report(event, name, "deferred", reason)

        status, answer = await self.attempt(event, device, event["identifier"], headers, body, deadline, deferred)
        reason = answer.get("reason")
        if status == 200:
            await self.carillon.report(event, name, "accepted")
        elif status == 410:
            await self.carillon.report(event, name, "unregistered", reason)
        elif status is not None:
            await self.carillon.report(event, name, "rejected", reason or f"status {status}")

    async def remove(self, event: dict, device: dict, identifier: str, id: str, sequence: str) -> None:
        headers, body = payload.removal(event, device, identifier, id, sequence)
        status, answer = await self.attempt(event, device, identifier, headers, body, time.time() + PATIENCE, None)
        # There is no report of a removal, but that a token is gone is told of the device. A newer registration of it stays.
        if status == 410 and "timestamp" in answer and "reason" not in event:
            gone = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(answer["timestamp"] / 1000))
            body = {"device": device["device"], "token": device["token"], "gone": gone}
            await self.carillon.tell("retirements", event, body)

    # ---- Attempts

    async def attempt(self, event, device, identifier, headers, body, deadline, deferred) -> tuple[int | None, dict]:
        """Pushes until APNs decides, the deadline passes or something newer takes its place (None)."""
        key = (payload.collapse_id(event["application"], event["recipient"], identifier), device["device"])
        mine = self.newest[key] = object()
        lock = self.locks.setdefault(key, asyncio.Lock())
        pause, told = 1.0, False
        try:
            while True:
                # Attempts of one notification at one device never overlap.
                async with lock:
                    if self.newest.get(key) is not mine:
                        return None, {}
                    if time.time() >= deadline:
                        return 0, {"reason": "no attempt succeeded in time, or it had expired"}
                    status, answer = await self.apns.push(device, headers, body)
                if status == 403:
                    log.error("APNs refuses the key of this gateway: %s", answer.get("reason"))
                elif status not in (0, 429) and status < 500:
                    return status, answer
                if deferred and not told:
                    told = True
                    await deferred(answer.get("reason") or f"status {status}")
                await asyncio.sleep(min(pause * random.uniform(0.5, 1.5), max(0.0, deadline - time.time())))
                pause = min(pause * 2, 60)
        finally:
            if self.newest.get(key) is mine:
                del self.newest[key], self.locks[key]


class Source:
    """Events from Kafka, committed in order when they are done."""

    def __init__(self, options, gateway: Gateway):
        self.gateway = gateway
        self.consumer = Consumer(
            {
                "bootstrap.servers": options.bootstrap,
                "group.id": options.group,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                # Events of transactions that were aborted did not happen.
                "isolation.level": "read_committed",
            }
        )
        self.topic = options.prefix + "deliveries"
        # Of each partition the tasks by offset, as they were read.
        self.tasks: dict[int, OrderedDict[int, asyncio.Task]] = {}
        self.is_paused = False

    async def run(self, stopping: asyncio.Event) -> None:
        self.consumer.subscribe([self.topic], on_revoke=self.revoked, on_lost=self.revoked)
        while not stopping.is_set():
            messages = await asyncio.to_thread(self.consumer.consume, 100, 0.2)
            for message in messages:
                if message.error() is not None:
                    log.warning("Kafka: %s", message.error())
                    continue
                tasks = self.tasks.setdefault(message.partition(), OrderedDict())
                tasks[message.offset()] = asyncio.create_task(self.handle(message))
            self.commit()
            self.bound()
        for tasks in self.tasks.values():
            for task in tasks.values():
                task.cancel()
        await asyncio.to_thread(self.consumer.close)

    async def handle(self, message) -> None:
        headers = {name: value.decode() for name, value in message.headers() or [] if value is not None}
        try:
            sequence = payload.sequence(message.timestamp()[1], message.offset())
            await self.gateway.handle(headers["ce_type"], headers["ce_id"], json.loads(message.value()), sequence)
        except Exception:
            # One event that this program cannot handle must not stop the others.
            log.exception("partition %d, offset %d", message.partition(), message.offset())

    def commit(self) -> None:
        positions = []
        for partition, tasks in list(self.tasks.items()):
            position = None
            while tasks and next(iter(tasks.values())).done():
                position = tasks.popitem(last=False)[0] + 1
            if position is not None:
                positions.append(TopicPartition(self.topic, partition, position))
        if not positions:
            return
        try:
            self.consumer.commit(offsets=positions, asynchronous=True)
        except KafkaException as error:
            log.warning("Kafka: %s", error)

    def bound(self) -> None:
        """Reads no more while too much is unfinished; the consumer stays in its group."""
        is_full = sum(len(tasks) for tasks in self.tasks.values()) >= MOST_UNFINISHED
        if is_full != self.is_paused:
            (self.consumer.pause if is_full else self.consumer.resume)(self.consumer.assignment())
            self.is_paused = is_full

    def revoked(self, _, partitions) -> None:
        """The next owner begins with what is not committed."""
        for partition in partitions:
            for task in self.tasks.pop(partition.partition, {}).values():
                task.get_loop().call_soon_threadsafe(task.cancel)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bootstrap", required=True, help="brokers, such as localhost:9092")
    parser.add_argument("--prefix", default="carillon.", help="prefix of the topics")
    parser.add_argument("--group", default="apns-gateway", help="consumer group")
    parser.add_argument("--carillon", required=True, help="the producer service, such as https://notify.example.com")
    parser.add_argument("--token-file", help="file with a token of the role signal; none for a service on this machine")
    parser.add_argument("--key", required=True, help="file with Apple's key (.p8)")
    parser.add_argument("--key-id", required=True)
    parser.add_argument("--team-id", required=True)
    parser.add_argument("--apns", help="another server than Apple's, for tests")
    parser.add_argument("--apns-ca", help="file with the certificate that signs that server's")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)

    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    gateway = Gateway(options)
    await Source(options, gateway).run(stopping)
    await gateway.apns.close()
    await gateway.carillon.client.aclose()


if __name__ == "__main__":
    asyncio.run(main())
