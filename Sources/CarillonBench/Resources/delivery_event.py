"""The delivery event of an immediate request, with the headers, id and bytes of the consumer service; and the properties
that the programs which make it have in common."""

import functools
import hashlib
import sys
import time
from urllib.parse import unquote

# UUIDv5 of the URL namespace and urn:carillon:notification:event.
EVENT_NAMESPACE = bytes.fromhex("1d21b54fc67f5a67b6f78bbc623df0f5")
# What is between the request id and the key: no occurrence, the event's name and no device, each with its length before it.
EVENT_NAME = b"\0\0\0\0" b"\0\0\0\x09delivered" b"\0\0\0\0"

SPECVERSION = ("ce_specversion", b"1.0")
SOURCE = ("ce_source", b"/carillon/default")
TYPE = ("ce_type", b"carillon.notification.delivered.v1")
CONTENT_TYPE = ("content-type", b"application/json")

CONSUMING = {"isolation.level": "read_committed", "socket.nagle.disable": True}
# Batches fill as long as those of the service.
PRODUCING = {
    "acks": "all",
    "queue.buffering.max.ms": 20,
    "queue.buffering.max.messages": 200_000,
    "queue.buffering.max.kbytes": 262_144,
    "socket.nagle.disable": True,
}


def piece(text):
    return len(text).to_bytes(4, "big") + text


def event_id(request_id, key):
    """The UUIDv5 of the event; uuid.UUID would take several times as long."""
    name = piece(request_id.encode()) + EVENT_NAME + piece(key)
    digest = hashlib.sha1(EVENT_NAMESPACE + name).hexdigest()
    variant = "89ab"[int(digest[16], 16) & 3]
    return f"{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"


@functools.lru_cache(maxsize=1)
def second_text(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def now():
    """RFC 3339 in UTC with milliseconds."""
    seconds, milliseconds = divmod(time.time_ns() // 1_000_000, 1000)
    return f"{second_text(seconds)}.{milliseconds:03d}Z"


def event_of(key, request, replaces):
    """The event; its members are in the order of the schema."""
    application, recipient, identifier = key.decode().split("/", 2)
    event = {
        "requestId": request["requestId"],
        "application": unquote(application),
        "recipient": unquote(recipient),
        "identifier": unquote(identifier),
        "closes": True,
    }
    if replaces is not None:
        event["replaces"] = replaces
    event["channel"] = "events"
    event["content"] = request["content"]
    # A recipient of the workload has one notification.
    thread = request["content"].get("threadIdentifier")
    if thread is not None:
        event["thread"] = {"identifier": thread, "count": 1, "update": replaces is not None}
    return event


def headers_of(key, request_id, received):
    headers = [
        SPECVERSION,
        ("ce_id", event_id(request_id, key)),
        SOURCE,
        TYPE,
        ("ce_time", now()),
        ("ce_subject", key),
        CONTENT_TYPE,
    ]
    for header in reversed(received or ()):
        if header[0] == "traceparent":
            headers.append(header)
            break
    return headers


def properties_of(arguments):
    """The properties of the consumer and of the producer, with those that the benchmark gives as `name=value`."""
    consuming, producing = dict(CONSUMING), dict(PRODUCING)
    for argument in arguments:
        name, equal, value = argument.partition("=")
        if not equal:
            sys.exit(f"not property=value: {argument}")
        is_consumers = name.startswith(("fetch.", "queued."))
        (consuming if is_consumers else producing)[name] = value
    return consuming, producing
