"""Prints the records of topics as they come, one JSON object a line, every byte as it is (base64)."""

import base64
import json
import signal
import sys

from common import reader


def encoded(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def main(bootstrap: str, *topics: str) -> None:
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    consumer = reader(bootstrap, list(topics))
    while not ended:
        message = consumer.poll(0.1)
        if message is None or message.error() is not None:
            continue
        line = {
            "topic": message.topic(),
            "partition": message.partition(),
            "offset": message.offset(),
            "keyBase64": encoded(message.key()),
            "valueBase64": encoded(message.value()),
            "headers": [[name, encoded(value)] for name, value in message.headers() or []],
        }
        print(json.dumps(line), flush=True)
    consumer.close()


main(*sys.argv[1:])
