"""A headless Chromium, by the Chrome DevTools Protocol: what the tests of pages need of it."""

import base64
import json
import pathlib

from browser import DEADLINE, Browser, Failure, wait


class Chromium(Browser):
    """A browser with one page. Use it in a `with` statement."""

    def __init__(self, program: str):
        super().__init__("Chromium")
        self.events: list[dict] = []
        try:
            self.start(
                [
                    program, "--headless=new", "--remote-debugging-port=0", f"--user-data-dir={self.folder}", "--no-sandbox",
                    "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--lang=en-GB", "about:blank",
                ],
                self._address)
            target = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
            self.session = self.attach(target["targetId"])
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.page(f"{domain}.enable")
        except BaseException:
            self.close()
            raise

    def _address(self) -> str | None:
        """The file has the port and the path once the browser listens."""
        file = pathlib.Path(self.folder, "DevToolsActivePort")
        words = file.read_text().split() if file.exists() else []
        return f"ws://127.0.0.1:{words[0]}{words[1]}" if len(words) == 2 else None

    # The protocol

    def call(self, method: str, session: str | None = None, **parameters) -> dict:
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv(timeout=DEADLINE))
            if answer.get("id") == self.last:
                break
            self.events.append(answer)
            del self.events[:-5_000]
        if "error" in answer:
            raise Failure(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def attach(self, target: str) -> str:
        return self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def page(self, method: str, **parameters) -> dict:
        return self.call(method, self.session, **parameters)

    # The page

    def open(self, url: str):
        self.page("Page.navigate", url=url)
        wait(f"{url} is loaded", lambda: self.run("document.readyState") == "complete")

    def run(self, expression: str, session: str | None = None):
        """Evaluates an expression, also a promise, and returns its value."""
        result = self.call(
            "Runtime.evaluate", session or self.session, expression=expression, awaitPromise=True, returnByValue=True,
            userGesture=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failure(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return result["result"].get("value")

    def click(self, selector: str, text: str | None = None):
        """Clicks the first element of a selector, or the first with this text, with the mouse."""
        find = f"[...document.querySelectorAll({json.dumps(selector)})]" + (
            f".find(one => one.textContent.trim() === {json.dumps(text)})" if text else "[0]")
        self.until(f"{selector} {text or ''} is there", f"Boolean({find})")
        box = self.run(
            f"(() => {{ const one = {find}; one.scrollIntoView({{block: 'center', behavior: 'instant'}});"
            " const {x, y, width, height} = one.getBoundingClientRect(); return {x: x + width / 2, y: y + height / 2}; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.page("Input.dispatchMouseEvent", type=kind, x=box["x"], y=box["y"], button="left", clickCount=1)

    def type(self, text: str):
        """Types into what has the focus."""
        self.page("Input.insertText", text=text)

    def press(self, key: str):
        codes = {"Enter": 13, "Tab": 9}
        text = "\r" if key == "Enter" else ""
        self.page("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=codes[key], text=text)
        self.page("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=codes[key])

    def screenshot(self, file: str):
        data = self.page("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(file).write_bytes(base64.b64decode(data))

    def complaints(self) -> list[str]:
        """What the page has written as errors: exceptions, and what the policy of contents has refused."""
        self.run("1")
        found = []
        for event in self.events:
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(event["params"]["exceptionDetails"].get("exception", {}).get("description", "an exception"))
            elif event.get("method") == "Log.entryAdded" and event["params"]["entry"]["source"] in ("security", "violation"):
                found.append(event["params"]["entry"]["text"])
        return found

    # Service workers

    def worker(self) -> str:
        """The session of the page's service worker, once it runs."""
        def found():
            targets = self.call("Target.getTargets")["targetInfos"]
            return next((one["targetId"] for one in targets if one["type"] == "service_worker"), None)

        return self.attach(wait("the service worker runs", found))

    def deliver(self, origin: str, data: str):
        """A push message with this text reaches the service worker of an origin."""
        def registrations():
            self.run("1")
            return [
                one for event in self.events if event.get("method") == "ServiceWorker.workerRegistrationUpdated"
                for one in event["params"]["registrations"] if not one["isDeleted"] and one["scopeURL"].startswith(origin)]

        self.page("ServiceWorker.enable")
        registration = wait(f"{origin} has a service worker", registrations)[-1]
        self.page(
            "ServiceWorker.deliverPushMessage", origin=origin, registrationId=registration["registrationId"], data=data)
