"""What APNs gets for an event of Carillon: headers and payload, without I/O."""

import hashlib
import json
import uuid
from datetime import datetime

# A payload of APNs has at most this many bytes.
LONGEST = 4096
NAMESPACE = uuid.UUID("6f7a4a3e-7f0c-4d8e-9a55-2d8a3c1f9b10")


def collapse_id(application: str, recipient: str, identifier: str) -> str:
    """The same for all that replaces each other on a device, and the identifier under which the device shows it: 64 bytes, at most
    as many as APNs allows. Names may have 256 bytes each, so it is a hash of them."""
    name = "\0".join((application, recipient, identifier))
    return hashlib.sha256(name.encode()).hexdigest()


def sequence(milliseconds: int, offset: int) -> str:
    """The place of an event among others for the device, by the time and the offset of its record: texts in their order. An event of
    `device.retired` is on another partition than those of the notifications."""
    return f"{milliseconds:015}-{offset:012}"


def epoch(instant: str) -> int:
    return int(datetime.fromisoformat(instant.replace("Z", "+00:00")).timestamp())


def localized(content: dict, device: dict) -> dict:
    """The content with the texts that were chosen for the device's locale."""
    texts = content.get("localizations", {}).get(device.get("localization"), {})
    return {name: value for name, value in content.items() if name.removesuffix("Localization") not in texts} | texts


def alert(content: dict) -> dict:
    """A localization key takes the place of its text: APNs takes one or the other."""
    found = {}
    for field, prefix in (("title", "title-"), ("subtitle", "subtitle-"), ("body", "")):
        localization = content.get(f"{field}Localization")
        if localization:
            found[f"{prefix}loc-key"] = localization["key"]
            if localization.get("arguments"):
                found[f"{prefix}loc-args"] = localization["arguments"]
        elif field in content:
            found[field] = content[field]
    if "launchImageName" in content:
        found["launch-image"] = content["launchImageName"]
    return found


def sound(value):
    """A name, or for a critical sound an object."""
    if isinstance(value, str):
        return value
    if not value.get("critical"):
        return value.get("name", "default")
    return {"critical": 1, "name": value.get("name", "default"), "volume": value.get("volume", 1.0)}


def aps(content: dict, device: dict) -> dict:
    """`presentation` of the device decides which parts of the content it gets."""
    shown = set(device["presentation"])
    found = {}
    if shown & {"banner", "list"}:
        found["alert"] = alert(content)
        level = device.get("interruptionLevel", content.get("interruptionLevel", "active"))
        # APNs has no word for "in the list, without a banner", but passive notifications are shown so.
        if "banner" not in shown:
            level = "passive"
        found["interruption-level"] = {"timeSensitive": "time-sensitive"}.get(level, level)
    if "sound" in shown and "sound" in content:
        found["sound"] = sound(content["sound"])
    if "badge" in device:
        found["badge"] = device["badge"]
    for field, name in (
        ("threadIdentifier", "thread-id"),
        ("categoryIdentifier", "category"),
        ("targetContentIdentifier", "target-content-id"),
        ("filterCriteria", "filter-criteria"),
        ("relevanceScore", "relevance-score"),
    ):
        if field in content:
            found[name] = content[field]
    if content.get("mutableContent"):
        found["mutable-content"] = 1
    if not {"alert", "sound", "badge"} & set(found):
        # Nothing to show: the app gets it in the background, with no other part.
        return {"content-available": 1}
    return found


def identifiers(event: dict, device: str, sequence: str) -> dict:
    """What the app needs to answer, to tell that it has received and shown the notification, and to know what is older."""
    names = ("application", "identifier", "requestId", "occurrence")
    return {name: event[name] for name in names if name in event} | {"device": device, "sequence": sequence}


def delivery(event: dict, device: dict, event_id: str, sequence: str) -> tuple[dict, bytes]:
    """Headers and payload that show a notification on a device."""
    collapse = collapse_id(event["application"], event["recipient"], event["identifier"])
    content = localized(event["content"], device)
    parts = aps(content, device)
    own = identifiers(event, device["device"], sequence)
    if content.get("attachments"):
        own["attachments"] = content["attachments"]
    # Nothing of the content may take the place of `aps`.
    body = dict(content.get("userInfo", {})) | {"aps": parts, "carillon": own}
    is_background = "content-available" in parts
    is_quiet = is_background or parts.get("interruption-level") == "passive"
    headers = {
        "apns-push-type": "background" if is_background else "alert",
        "apns-priority": "5" if is_quiet else "10",
        "apns-collapse-id": collapse,
    }
    if "expiration" in event:
        headers["apns-expiration"] = str(epoch(event["expiration"]))
    return common(headers, device, event_id), encode(body)


def removal(event: dict, device: dict, identifier: str, event_id: str, sequence: str) -> tuple[dict, bytes]:
    """Headers and payload that ask the app to remove a notification, unless a later event has shown it: APNs itself cannot."""
    collapse = collapse_id(event["application"], event["recipient"], identifier)
    body = {"aps": {"content-available": 1}, "carillon": {"remove": {collapse: sequence}}}
    # Without a collapse id: that would replace the notification in the queue of APNs, not on the device.
    return common({"apns-push-type": "background", "apns-priority": "5"}, device, event_id + identifier), encode(body)


def common(headers: dict, device: dict, event_id: str) -> dict:
    # The same event has the same id at each attempt.
    number = uuid.uuid5(NAMESPACE, f"{event_id}/{device['device']}")
    return headers | {"apns-topic": device["bundleIdentifier"], "apns-id": str(number)}


def encode(body: dict) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
