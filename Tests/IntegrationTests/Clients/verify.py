"""Checks every record that kcat wrote down (`kcat -J`): key, partition, headers, and the value against its JSON Schema.

Standard output: one JSON object that says how many were checked, and whether schemas were. Every problem is a line on standard error.
"""

import argparse
import json
import pathlib
import re
import sys
import uuid

from common import decode_key, encode_key, partition_count, partition_of
from confluent_kafka import Producer

try:
    import jsonschema
except ImportError:
    jsonschema = None

NAMES = "scheduled delivered superseded cancelled cancellation.missed removed expired held missed".split()
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
TRACE = re.compile(r"^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$")


class Checker:
    def __init__(self, options):
        self.options = options
        self.problems: list[str] = []
        client = Producer({"bootstrap.servers": options.bootstrap})
        self.counts = {
            topic: partition_count(client, topic) for topic in (options.prefix + "requests", options.prefix + "deliveries")
        }
        self.validators = {}
        if jsonschema is not None:
            for name in ("request", "removal", "delivery-event"):
                schema = json.loads((pathlib.Path(options.schemas) / f"{name}.json").read_text())
                self.validators[name] = jsonschema.Draft202012Validator(schema)

    def check(self, record: dict) -> None:
        place = f"{record['topic']} {record['partition']}/{record['offset']}"
        raw = record.get("headers") or []
        headers = dict(zip(raw[::2], raw[1::2]))

        def expect(condition, what):
            if not condition:
                self.problems.append(f"{place}: {what}; key {record.get('key')!r}, headers {headers}, value {record.get('payload')}")

        components = decode_key(record["key"])
        expect(len(components) == 3, "a key has three components")
        expect(encode_key(*components) == record["key"], "the key is percent-encoded canonically")
        home = partition_of(components[1], self.counts[record["topic"]])
        expect(record["partition"] == home, f"murmur2 says partition {home}")

        expect(headers.get("ce_specversion") == "1.0", "ce_specversion")
        expect(headers.get("ce_source") == self.options.source, "ce_source is one constant a deployment")
        expect(headers.get("ce_subject") == record["key"], "ce_subject is the key")
        expect(TIME.match(headers.get("ce_time", "")), "ce_time is RFC 3339 in UTC with milliseconds")
        expect(headers.get("content-type") == "application/json", "content-type")
        expect(len(raw) == 2 * len(headers), "no header is there twice")
        if "traceparent" in headers:
            expect(TRACE.match(headers["traceparent"]), "traceparent")

        value = json.loads(record["payload"])
        if record["topic"].endswith("deliveries"):
            name = headers.get("ce_type", "").removeprefix("carillon.notification.").removesuffix(".v1")
            expect(name in NAMES, "ce_type")
            expect(uuid.UUID(headers["ce_id"]).version == 5, "ce_id is a UUIDv5")
            expect(value.get("requestId") and isinstance(value.get("closes"), bool), "requestId and closes are in every event")
            expect([value.get(n) for n in ("application", "recipient", "identifier")] == components, "the value says what the key says")
            schema = "delivery-event"
        else:
            removal = "remove" in value
            expect(
                headers.get("ce_type") == f"carillon.notification.{'removal' if removal else 'request'}.v1",
                "ce_type says which of the two it is",
            )
            expect(headers.get("ce_id") == value.get("requestId"), "ce_id is the request id")
            if not removal:
                expect([value.get(n) for n in ("application", "recipient", "identifier")] == components, "the value says what the key says")
            schema = "removal" if removal else "request"
        if schema in self.validators:
            for error in self.validators[schema].iter_errors(value):
                self.problems.append(f"{place}: schema {schema}: {error.json_path}: {error.message}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--schemas", required=True)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    checker = Checker(options)
    checked = {"requests": 0, "deliveries": 0}
    for file in options.files:
        # A line that is still being written is not looked at.
        for line in pathlib.Path(file).read_bytes().split(b"\n")[:-1]:
            # Among what tests sent by hand are bytes that are no text.
            record = json.loads(line.decode(errors="replace"))
            names = (record.get("headers") or [])[::2]
            # Requests that a test sent by hand have no CloudEvents headers, and are not ours to judge.
            if record["topic"].endswith("requests") and "ce_source" not in names:
                continue
            checker.check(record)
            checked[record["topic"].removeprefix(options.prefix)] += 1
    print(json.dumps({**checked, "schemas": bool(checker.validators)}))
    for problem in checker.problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if checker.problems else 0)


main()
