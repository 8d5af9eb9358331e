#!/usr/bin/env python3
"""Web Push of `carillon local` in real browsers, with the worker that is shipped.

usage: browser_push.py firefox PROGRAM PAGE API BROWSERS CONTROL
       browser_push.py chromium PROGRAM PAGE API SERVICE CERTIFICATE

PAGE and API are the addresses that `carillon local` prints. Firefox uses the push service of `carillon webpush-simulator`, of which
BROWSERS and CONTROL are the addresses of browsers and of the control interface. Chromium needs Google's to subscribe: the push service
of push_service.py decrypts, and what it got reaches Chromium's worker by the Chrome DevTools Protocol. It ends with status 0, or says what
is wrong.
"""

import json
import ssl
import sys
import urllib.request

from browser import Failure, wait
from chromium import Chromium
from firefox import Firefox

TEXTS = "getNotifications().then(all => all.map(({title, body}) => body ? `${title}: ${body}` : title))"
SHOWN = f"navigator.serviceWorker.ready.then(worker => worker.{TEXTS})"


def ask(method: str, url: str, body=None, context=None):
    request = urllib.request.Request(
        url, method=method, data=None if body is None else json.dumps(body).encode(),
        headers={"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60, context=context) as answer:
        return json.loads(answer.read() or b"null")


class World:
    def __init__(self, browser, page: str, api: str):
        self.browser, self.page, self.api = browser, page, api

    def send(self, identifier: str, content: dict):
        ask("PUT", f"{self.api}/v1/recipients/ana/notifications/{identifier}", {"content": content, "channel": "devices"})

    def remove(self, identifier: str):
        ask("DELETE", f"{self.api}/v1/recipients/ana/notifications/{identifier}?state=all")

    def step(self, name: str, text: str):
        find = (f"[...document.querySelectorAll('#steps [data-name={json.dumps(name)}]')]"
                f".some(one => one.textContent.includes({json.dumps(text)}))")
        try:
            self.browser.until(f"the step {name} with {text!r}", find)
        except Failure as failure:
            raise Failure(f"{failure}; {self.steps()}") from None

    def steps(self) -> str:
        steps = self.browser.run("[...document.querySelectorAll('#steps .step')].slice(0, 20).map(one => one.textContent)")
        return f"the page has the steps {steps}"

    def expect(self, *titles: str):
        """The browser shows these notifications."""
        try:
            wait("they are shown", lambda: self.browser.run(SHOWN) == list(titles))
        except Failure as failure:
            raise Failure(f"{failure}: {self.browser.run(SHOWN)}, not {list(titles)}") from None


def in_firefox(program: str, page: str, api: str, browsers: str, control: str):
    with Firefox(program, browsers) as firefox:
        world = World(firefox, page, api)
        firefox.open(page)
        firefox.until("the page offers it", "!document.getElementById('browser').hidden")
        firefox.run("document.getElementById('browser').requestSubmit()")
        said = "document.getElementById('browser-state').textContent"
        try:
            firefox.until("it is subscribed", f"{said}.startsWith('Subscribed')")
        except Failure as failure:
            raise Failure(f"{failure}: {firefox.run(said)}") from None
        device = firefox.run("localStorage.getItem('browser')")
        world.step("device.registered", device)

        # What another hand than ours decrypts is shown, and replaced.
        world.send("order", {"title": "On its way", "body": "Grüße 🙂"})
        world.expect("On its way: Grüße 🙂")
        world.step("device.presented", device)
        world.send("order", {"title": "Delivered"})
        world.expect("Delivered")
        world.remove("order")
        world.expect()
        world.step("removed", "order")

        # As long as a message can be, and cut where it would be longer.
        world.send("long", {"title": "Long", "body": "x" * 6_000})
        wait("it is shown", lambda: any(text.startswith("Long: xxx") for text in firefox.run(SHOWN)))
        assert len(firefox.run(SHOWN)[0]) > 3_000
        world.remove("long")
        world.expect()

        # Two tabs of the page, and a worker that was fetched again, show it once.
        other = firefox.tab()
        firefox.open(page, other)
        firefox.run("navigator.serviceWorker.getRegistration().then(worker => worker.update()).then(() => true)")
        world.send("once", {"title": "Once"})
        world.expect("Once")
        world.remove("once")
        world.expect()

        # What was removed before the browser fetched it is never shown: the removal takes its place by the topic.
        ask("PUT", f"{control}/v1/browsers", {"online": False})
        world.send("late", {"title": "Too late"})
        world.step("delivered", "late")
        world.remove("late")
        world.step("removed", "late")
        wait("one message waits", lambda: [len(one["waiting"]) for one in ask("GET", f"{control}/v1/browsers")["browsers"]] == [1])
        ask("PUT", f"{control}/v1/browsers", {"online": True})
        wait("it is fetched", lambda: [len(one["waiting"]) for one in ask("GET", f"{control}/v1/browsers")["browsers"]] == [0])
        world.send("next", {"title": "Next"})
        world.expect("Next")

        # With another secret the browser cannot read it, and nobody tells the sender.
        secret = ("navigator.serviceWorker.ready.then(worker => worker.pushManager.getSubscription()).then(one => {"
                  " const value = one.toJSON(); value.keys.auth = 'AAAAAAAAAAAAAAAAAAAAAA'; return value; })")
        subscription = firefox.run(secret)
        ask("PUT", f"{api}/v1/recipients/ana/devices/{device}", {"platform": "webpush", "token": json.dumps(subscription)})
        world.send("unreadable", {"title": "Nobody reads this"})
        world.step("delivered", "unreadable")
        wait("the browser says so", lambda: ask("GET", f"{control}/v1/statistics")["unreadable"] == 1)
        codes = [one["code"] for one in ask("GET", f"{control}/v1/browsers")["browsers"][0]["acknowledged"]]
        assert codes[-1] == 101, codes
        world.expect("Next")

        # 410 retires it.
        firefox.run("document.querySelector('#browser [name=unsubscribe]').click()")
        firefox.until("it is unsubscribed", f"{said}.startsWith('Unsubscribed')")
        world.send("gone", {"title": "Nobody is there"})
        world.step("device.retired", device)
        refused = ask("GET", f"{control}/v1/statistics")["refused"]
        assert refused.get("106") == 1, refused


def in_chromium(program: str, page: str, api: str, service: str, certificate: str):
    context = ssl.create_default_context(cafile=certificate)
    with Chromium(program) as chromium:
        world = World(chromium, page, api)
        origin = page.rstrip("/")
        chromium.call("Browser.grantPermissions", origin=origin, permissions=["notifications"])
        chromium.open(page)
        subscription = ask("POST", f"{service}/control/browsers/chromium", context=context)
        ask("PUT", f"{api}/v1/recipients/ana/devices/chromium", {"platform": "webpush", "token": json.dumps(subscription)})
        access = json.dumps(json.dumps({"url": f"{origin}/v1/recipients/ana", "token": "none"}))
        chromium.run("caches.open('carillon').then(cache => cache.put('/carillon-access', new Response(" + access + ")))")
        chromium.run("navigator.serviceWorker.register('/carillon-worker.js').then(() => navigator.serviceWorker.ready)"
                     ".then(() => true)")
        worker = chromium.worker()
        count = 0

        def relay():
            """What the push service has decrypted since reaches the worker."""
            nonlocal count
            got = ask("GET", f"{service}/control/browsers/chromium", context=context)["messages"]
            for one in got[count:]:
                chromium.deliver(origin, json.dumps(one["message"]))
            count = len(got)

        def shown():
            """Asked when the worker is not showing anything: Chromium forgets what it is asked for before it is on the screen."""
            return chromium.run(f"last.then(() => self.registration.{TEXTS})", worker)

        def expect(*titles):
            def is_so():
                relay()
                return shown() == list(titles)
            try:
                wait(f"it shows {titles}", is_so)
            except Failure as failure:
                raise Failure(f"{failure}, but {shown()}, of {count} messages; {world.steps()}") from None

        ask("PUT", f"{api}/v1/categories", {"categories": [{"identifier": "ORDER", "actions": [
            {"identifier": "later", "title": "Later"}]}]})
        world.send("order", {"title": "On its way", "body": "Grüße 🙂", "categoryIdentifier": "ORDER"})
        expect("On its way: Grüße 🙂")
        world.step("device.presented", "chromium")
        world.send("order", {"title": "Delivered", "categoryIdentifier": "ORDER"})
        expect("Delivered")
        # An action: what Chromium does when it is tapped.
        chromium.run(
            "(async () => { const [notification] = await self.registration.getNotifications();"
            " self.dispatchEvent(new NotificationEvent('notificationclick', {notification, action: 'later'})); })()",
            worker)
        world.step("answered", "later on chromium")
        expect()
        world.send("order", {"title": "Again"})
        expect("Again")
        world.remove("order")
        expect()
        world.step("removed", "order")


if __name__ == "__main__":
    {"firefox": in_firefox, "chromium": in_chromium}[sys.argv[1]](*sys.argv[2:])
