"""Sends messages with firebase-admin, Google's own client of FCM.

Reads cases as lines of JSON, {"token", "title", "data", "android"}, and writes what the client makes of each answer as a
line of JSON.
"""

import argparse
import asyncio
import json
import os
import sys

# A client beside this one has the name of a package that it needs.
sys.path.pop(0)

import firebase_admin
from firebase_admin import credentials, messaging


def message(case: dict) -> messaging.Message:
    android = case.get("android", {})
    notification = android.get("notification")
    return messaging.Message(
        token=case["token"],
        data=case.get("data"),
        notification=messaging.Notification(title=case["title"]) if "title" in case else None,
        android=messaging.AndroidConfig(
            priority=android.get("priority"),
            ttl=android.get("ttl"),
            notification=messaging.AndroidNotification(**notification) if notification else None,
        ),
    )


async def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--url", required=True)
    arguments.add_argument("--ca", required=True)
    arguments.add_argument("--account", required=True)
    options = arguments.parse_args()

    # It has no setting for them: the server's address and its authority.
    os.environ["SSL_CERT_FILE"] = options.ca
    messaging._MessagingService.FCM_URL = options.url + "/v1/projects/{0}/messages:send"
    app = firebase_admin.initialize_app(credentials.Certificate(options.account))
    cases = [json.loads(line) for line in sys.stdin]
    answers = await messaging.send_each_async([message(case) for case in cases], app=app)
    for answer in answers.responses:
        error = answer.exception
        print(
            json.dumps(
                {
                    "name": answer.message_id,
                    "error": type(error).__name__ if error else None,
                    "code": getattr(error, "code", None),
                }
            ),
            flush=True,
        )


asyncio.run(main())
