#!/usr/bin/env python3
"""What the back end of an app gives to the app when somebody signs in: a token with which the app registers its device, answers
notifications and lists them, for this person only.

    recipient_token.py --key recipients.pem --key-id shop-2026 --application shop --recipient ana

The key is a private key on the curve P-256; the producer service knows the public one.
"""

import argparse
import time

import jwt


def recipient_token(key: str, key_id: str, application: str, recipient: str, seconds: int = 3600) -> str:
    """A token for one recipient; it may be good for a day at most."""
    now = int(time.time())
    claims = {"sub": recipient, "aud": application, "iat": now, "exp": now + seconds}
    return jwt.encode(claims, key, algorithm="ES256", headers={"kid": key_id})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--key", required=True, help="file with the private key")
    for name in ("key-id", "application", "recipient"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    with open(options.key) as file:
        print(recipient_token(file.read(), options.key_id, options.application, options.recipient))
