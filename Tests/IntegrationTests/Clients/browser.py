"""A headless browser as a process, and the WebSocket by which it is driven: what Chromium and Firefox have in common."""

import os
import shutil
import subprocess
import tempfile
import time

import websockets.sync.client

DEADLINE = 60.0
"""Seconds that anything may take before it counts as never."""


class Failure(Exception):
    """What was expected has not come, or a script of the page has thrown."""


class Browser:
    """A browser with one page. Use it in a `with` statement."""

    def __init__(self, name: str):
        self.name = name
        self.folder = tempfile.mkdtemp(prefix=f"carillon-{name.lower()}-")
        self.last = 0
        self.process: subprocess.Popen | None = None

    def start(self, command: list[str], address, **environment: str):
        """Connects once `address` returns the address of the WebSocket, of a browser that runs."""
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.folder, "TZ": "UTC", **environment})

        def ready():
            if self.process.poll() is not None:
                raise Failure(f"{self.name} ended with status {self.process.returncode}")
            return address()

        # A busy page answers no pings.
        self.socket = websockets.sync.client.connect(
            wait(f"{self.name} listens", ready), max_size=None, proxy=None, ping_interval=None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def until(self, what: str, expression: str):
        """Waits until an expression is true for JavaScript, and returns its value."""
        return wait(what, lambda: self.run(expression))


def wait(what: str, condition):
    """Waits for a condition, and returns its value."""
    deadline = time.monotonic() + DEADLINE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Failure(f"not within {DEADLINE:.0f} seconds: {what}")
        time.sleep(0.02)
