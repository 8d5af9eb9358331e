"""Sends messages with firebase-admin's send_each, and prints how long that took: {"accepted", "seconds", "cpu_seconds"}."""

import json
import os
import sys
import time
import warnings

import firebase_admin
import requests
from firebase_admin import _http_client, credentials, messaging

# The most of a call.
BATCH = 500


def main() -> None:
    url, ca, account, body, count = sys.argv[1:]
    # It finds fault with `token` for each message.
    warnings.simplefilter("ignore", DeprecationWarning)
    # It has no setting for them.
    os.environ["REQUESTS_CA_BUNDLE"] = ca
    messaging._MessagingService.FCM_URL = url + "/v1/projects/{0}/messages:send"
    app = firebase_admin.initialize_app(credentials.Certificate(account))
    # As it does for Google's servers.
    adapter = requests.adapters.HTTPAdapter(
        pool_connections=100, pool_maxsize=100, max_retries=_http_client.DEFAULT_RETRY_CONFIG
    )
    messaging._get_messaging_service(app)._client.session.mount(url, adapter)
    made = json.loads(open(body, "rb").read())["message"]
    shown, priority = made["android"]["notification"], made["android"].get("priority", "normal").lower()
    accepted = 0

    def message(number: int) -> messaging.Message:
        notification = messaging.AndroidNotification(title=shown["title"], body=shown["body"], tag=shown["tag"])
        return messaging.Message(
            token=f"token-{number}",
            data=made["data"],
            android=messaging.AndroidConfig(priority=priority, notification=notification),
        )

    def send(numbers: range) -> None:
        nonlocal accepted
        answers = messaging.send_each([message(number) for number in numbers], app=app)
        accepted += answers.success_count

    # The access token, and connections.
    send(range(BATCH))
    begin, cpu = time.monotonic(), time.process_time()
    for first in range(0, int(count), BATCH):
        send(range(first, min(first + BATCH, int(count))))
    seconds, cpu = time.monotonic() - begin, time.process_time() - cpu
    print(json.dumps({"accepted": accepted, "seconds": seconds, "cpu_seconds": cpu}))


main()
