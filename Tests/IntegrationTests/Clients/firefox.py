"""A headless Firefox, by WebDriver BiDi, whose push service is one on this machine."""

import json
import pathlib

from browser import DEADLINE, Browser, Failure


class Firefox(Browser):
    """A browser with one page. Use it in a `with` statement."""

    def __init__(self, program: str, push_service: str):
        """The push service is the address of its WebSocket, `ws://127.0.0.1:PORT/`."""
        super().__init__("Firefox")
        preferences = {
            "dom.push.serverURL": push_service, "dom.push.testing.allowInsecureServerURL": True,
            "dom.push.connection.enabled": True, "dom.push.retryBaseInterval": 100, "dom.push.maxRetryInterval": 500,
            "permissions.default.desktop-notification": 1, "remote.active-protocols": 1,
            "datareporting.policy.dataSubmissionEnabled": False, "app.update.enabled": False,
            "browser.shell.checkDefaultBrowser": False, "toolkit.telemetry.reportingpolicy.firstRun": False,
            "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
            "browser.aboutwelcome.enabled": False, "services.settings.server": "",
            # There is no desktop that shows notifications.
            "alerts.useSystemBackend": False,
        }
        pathlib.Path(self.folder, "user.js").write_text(
            "".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()))
        try:
            self.start(
                [program, "--headless", "--no-remote", "--profile", self.folder, "--remote-debugging-port", "0", "about:blank"],
                self._address, MOZ_HEADLESS="1", MOZ_CRASHREPORTER_DISABLE="1")
            self.call("session.new", capabilities={})
            self.context = self.call("browsingContext.getTree")["contexts"][0]["context"]
        except BaseException:
            self.close()
            raise

    def _address(self) -> str | None:
        try:
            place = json.loads(pathlib.Path(self.folder, "WebDriverBiDiServer.json").read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return f"ws://{place['ws_host']}:{place['ws_port']}/session"

    def call(self, method: str, **parameters) -> dict:
        self.last += 1
        self.socket.send(json.dumps({"id": self.last, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv(timeout=DEADLINE))
            if answer.get("id") == self.last:
                break
        if answer.get("type") == "error":
            raise Failure(f"{method}: {answer.get('error')}: {answer.get('message')}")
        return answer["result"]

    def open(self, url: str, context: str | None = None):
        self.call("browsingContext.navigate", context=context or self.context, url=url, wait="complete")

    def tab(self) -> str:
        """The context of another tab."""
        return self.call("browsingContext.create", type="tab")["context"]

    def run(self, expression: str, context: str | None = None):
        """Evaluates an expression, also a promise, and returns its value by JSON."""
        answer = self.call(
            "script.evaluate", target={"context": context or self.context}, awaitPromise=True, userActivation=True,
            expression=f"(async () => JSON.stringify(await ({expression})) ?? 'null')()")
        if answer["type"] != "success":
            raise Failure(f"{expression}: {answer['exceptionDetails']['text']}")
        return json.loads(answer["result"]["value"])
