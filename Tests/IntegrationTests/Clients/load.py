"""A stream of PUTs and of business events until SIGTERM; then it says what was accepted.

The file of --http holds the base URL of the API and is read again after each failure: the API may come back elsewhere.
While it runs it prints {"accepted": n, "sent": n}; at the end {"requests": [ids answered 202], "events": [identifiers acknowledged],
"refused": n}.
"""

import argparse
import http.client
import json
import pathlib
import signal
import sys
import threading
import time
import urllib.parse

from cloudevents.http import CloudEvent
from cloudevents.kafka import to_binary
from confluent_kafka import Producer

parser = argparse.ArgumentParser()
parser.add_argument("--bootstrap", required=True)
parser.add_argument("--business-events", required=True)
parser.add_argument("--http", required=True)
parser.add_argument("--recipients", required=True, help="what the names of its recipients begin with")
parser.add_argument("--pause", type=float, default=0.01)
parser.add_argument("--immediate", action="store_true", help="no request waits for its time")
options = parser.parse_args()

# A plain list: an Event must not be set in a handler, which may run while the Event itself is being waited for.
ended: list[bool] = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
requests: list[str] = []
events: list[str] = []
refused: list[str] = []


def put(worker: int) -> None:
    connection = None
    number = 0
    while not ended:
        number += 1
        recipient, identifier = f"{options.recipients}-put-{number % 16}", f"put-{worker}-{number}"
        body = {"content": {"title": "Load", "body": identifier}}
        if not options.immediate and number % 2 == 0:
            body["trigger"] = {"type": "timeInterval", "timeInterval": 7200}
        try:
            if connection is None:
                url = urllib.parse.urlsplit(pathlib.Path(options.http).read_text().strip())
                connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
            connection.request(
                "PUT",
                f"/v1/recipients/{recipient}/notifications/{identifier}",
                json.dumps(body),
                {"content-type": "application/json"},
            )
            answer = connection.getresponse()
            text = answer.read()
            if answer.status == 202:
                requests.append(json.loads(text)["requestId"])
            else:
                refused.append(f"{answer.status} {text[:200]!r}")
        except (OSError, http.client.HTTPException) as error:
            # What was not answered may be on the broker or not: it is not among what must be there.
            refused.append(repr(error))
            connection.close() if connection else None
            connection = None
            time.sleep(0.2)
        time.sleep(options.pause)


def send() -> None:
    producer = Producer({"bootstrap.servers": options.bootstrap, "acks": "all", "linger.ms": 5})
    number = 0
    while not ended:
        number += 1
        recipient, identifier = f"{options.recipients}-event-{number % 16}", f"event-{number}"
        made = CloudEvent(
            {
                "type": "com.example.test.now" if options.immediate or number % 2 else "com.example.test.later",
                "source": "/load",
                "id": f"{options.recipients}-{number}",
                "subject": recipient,
                "datacontenttype": "application/json",
            },
            {"recipient": recipient, "identifier": identifier, "title": "Load"},
        )
        message = to_binary(made, key_mapper=lambda made: made["subject"])

        def acknowledged(error, _, identifier=identifier):
            if error is None:
                events.append(identifier)

        producer.produce(
            options.business_events, message.value, message.key, headers=message.headers, on_delivery=acknowledged
        )
        producer.poll(0)
        time.sleep(options.pause)
    if producer.flush(60) != 0:
        sys.exit("the broker does not acknowledge business events")


threads = [threading.Thread(target=put, args=(worker,)) for worker in range(2)] + [threading.Thread(target=send)]
for thread in threads:
    thread.start()
while not ended:
    time.sleep(0.2)
    print(json.dumps({"accepted": len(requests), "sent": len(events)}), flush=True)
for thread in threads:
    thread.join()
print(json.dumps({"requests": requests, "events": events, "refused": refused}), flush=True)
