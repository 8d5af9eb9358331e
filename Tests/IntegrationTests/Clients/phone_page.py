#!/usr/bin/env python3
"""The page of `carillon local`, in a real Chromium.

usage: phone_page.py SCENARIO CHROMIUM PAGE API [MORE]

PAGE and API are the addresses that `carillon local --apns` prints. MORE is the folder for pictures, or the address of a picture. It ends with
status 0, or says what is wrong.
"""

import json
import re
import sys
import urllib.parse
import urllib.request

from browser import Failure, wait
from chromium import Chromium

IPHONE, ANDROID = 'section[aria-label="iPhone iphone of ana"]', 'section[aria-label="Android pixel of ana"]'
CATEGORIES = {"categories": [{"identifier": "ORDER", "options": ["customDismissAction"], "actions": [
    {"identifier": "track", "title": "Track", "options": ["foreground"]},
    {"identifier": "reply", "title": "Reply", "textInput": {"buttonTitle": "Send", "placeholder": "Your message"}}]}]}


class World:
    def __init__(self, browser: Chromium, page: str, api: str, more: str | None):
        self.browser, self.page, self.api, self.more = browser, page, api, more

    def call(self, method: str, path: str, body=None) -> dict:
        request = urllib.request.Request(
            f"{self.api}/v1/{path}", method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.status == 202, answer.status
            return json.load(answer)

    def send(self, identifier: str, content: dict, **more) -> dict:
        path = f"recipients/ana/notifications/{urllib.parse.quote(identifier, safe='')}"
        return self.call("PUT", path, {"content": content, "channel": "devices", **more})

    def open(self, view: str = "Home"):
        self.browser.open(self.page)
        self.browser.until("the iPhone is there", f"Boolean(document.querySelector('{IPHONE}'))")
        self.show(IPHONE, view)

    def show(self, phone: str, view: str):
        self.browser.click(f"{phone} [data-view]", view)

    def add(self, platform: str, device: str, selector: str):
        self.browser.run(
            f"(() => {{ const form = document.getElementById('add'); form.elements.platform.value = '{platform}';"
            f" form.elements.device.value = '{device}'; form.requestSubmit(); }})()")
        self.browser.until("the phone is there", f"Boolean(document.querySelector('{selector}'))")
        self.step("device.registered", device)

    def add_android(self):
        self.add("fcm", "pixel", ANDROID)

    def texts(self, selector: str) -> list[str]:
        return self.browser.run(f"[...document.querySelectorAll({json.dumps(selector)})].map(one => one.textContent)")

    def expect(self, what: str, selector: str, texts: list[str]):
        try:
            wait(what, lambda: self.texts(selector) == texts)
        except Failure as failure:
            raise Failure(f"{failure}: {selector} has {self.texts(selector)}, not {texts}") from None

    def step(self, name: str, text: str = ""):
        """Waits for a step beside the phones."""
        find = (f"[...document.querySelectorAll('#steps [data-name={json.dumps(name)}]')]"
                f".some(one => one.textContent.includes({json.dumps(text)}))")
        try:
            self.browser.until(f"the step {name} with {text!r}", find)
        except Failure as failure:
            raise Failure(f"{failure}; there are {self.texts('#steps .step')[:20]}") from None

    def order(self, *names: str):
        """The steps came in this order."""
        found = [name for name in reversed(self.browser.run(
            "[...document.querySelectorAll('#steps .step')].map(one => one.dataset.name)")) if name in names]
        places = [found.index(name) for name in names]
        assert places == sorted(places), (found, names)

    def picture(self, name: str):
        if self.more:
            self.browser.screenshot(f"{self.more}/{name}.png")


def life(world: World):
    """A notification is shown, replaced in place and removed on two phones; what is typed comes back as an event."""
    browser = world.browser
    world.call("PUT", "categories", CATEGORIES)
    world.open()
    world.add_android()
    world.show(ANDROID, "Notifications")
    world.send("order", {"title": "On its way", "body": "Your order has shipped.", "categoryIdentifier": "ORDER", "badge": 3})
    world.expect("the banner is there", f"{IPHONE} .banner .title", ["On its way"])
    world.expect("the icon has a badge", f"{IPHONE} .badge", ["3"])
    world.expect("it is in the list", f"{ANDROID} .list .title", ["On its way"])
    for name in ("requested", "delivered", "accepted", "shown"):
        world.step(name, "order")
    world.order("requested", "delivered", "accepted")
    world.step("device.presented")

    world.send("order", {"title": "Delivered", "categoryIdentifier": "ORDER"})
    world.expect("the banner is another one", f"{IPHONE} .banner .title", ["Delivered"])
    world.expect("it takes the former one's place", f"{ANDROID} .list .title", ["Delivered"])
    world.call("DELETE", "recipients/ana/notifications/order?state=all")
    world.expect("nothing is left", f"{ANDROID} .list .title", [])
    world.expect("nothing is left", f"{IPHONE} .title", [])
    world.step("removed", "order")

    # An action with text, by mouse and keyboard.
    world.send("table", {"title": "A table for two", "body": "Tonight at 7?", "categoryIdentifier": "ORDER"})
    world.expect("the banner is there", f"{IPHONE} .banner .title", ["A table for two"])
    world.show(IPHONE, "Notifications")
    browser.click(f"{IPHONE} .list .options")
    browser.click(f"{IPHONE} .list .reply input")
    browser.type("Yes, <b>please</b>")
    browser.press("Enter")
    world.step("answered", "Yes, <b>please</b>")
    world.expect("what is answered is gone", f"{IPHONE} .title", [])
    world.expect("from the other phone, too", f"{ANDROID} .title", [])

    # A tap by the keyboard alone opens the app, whose foreground Carillon learns.
    world.send("order-2", {"title": "Out for delivery", "targetContentIdentifier": "https://shop.example/orders/2"})
    world.expect("it is in the list", f"{IPHONE} .list .title", ["Out for delivery"])
    browser.run(f"document.querySelector('{IPHONE} .list .tap').focus()")
    browser.press("Enter")
    world.expect("the app is open", f"{IPHONE} .screen[data-view=app] h4", ["Out for delivery"])
    world.step("answered", "default")
    world.step("signal app-state")
    assert browser.run(f"document.querySelector('{IPHONE} .screen a').href") == "https://shop.example/orders/2"

    # Away, and back: APNs keeps the newest.
    world.show(IPHONE, "Notifications")
    browser.run(f"document.querySelector('{IPHONE} .settings').open = true")
    browser.click(f"{IPHONE} [data-part=online]")
    browser.until("the phone has no network", f"document.querySelector('{IPHONE} [data-part=away]').textContent")
    world.send("a", {"title": "First"})
    world.send("b", {"title": "Second"})
    world.expect("the other phone has both", f"{ANDROID} .list .title", ["Second", "First"])
    browser.click(f"{IPHONE} [data-part=online]")
    world.expect("it has come", f"{IPHONE} .list .title", ["Second"])


def permissions(world: World):
    """What the person allows decides, and groups, the lock screen and the place work."""
    browser = world.browser
    world.open("Lock")
    for number in range(3):
        world.send(f"chat-{number}", {"title": f"Message {number}", "threadIdentifier": "chat"})
        world.step("delivered", f"chat-{number}")
    world.expect("a thread is one entry", f"{IPHONE} .list .title", ["Message 2"])
    world.expect("which says how many", f"{IPHONE} .group button", ["2 more of chat"])
    browser.click(f"{IPHONE} .group button")
    world.expect("it opens", f"{IPHONE} .list .title", ["Message 2", "Message 1", "Message 0"])

    browser.run(f"document.querySelector('{IPHONE} .settings').open = true")
    permission = f"document.querySelector('{IPHONE} [name=permission]')"
    for status in ("denied", "provisional"):
        browser.run(f"{permission}.value = '{status}'; {permission}.dispatchEvent(new Event('change'))")
        browser.until(f"it is registered as {status}", "fetch('/v1/recipients/ana/devices').then(answer => answer.json())"
                      f".then(({{devices}}) => devices[0].authorizationStatus === '{status}')")
        if status == "denied":
            world.send("no", {"title": "Not for you"})
            world.step("suppressed", "no")
        else:
            world.send("quiet", {"title": "Quietly"})
            world.show(IPHONE, "Home")
            world.step("delivered", "quiet")
            world.step("shown", "quiet")
            assert world.texts(f"{IPHONE} .banner") == []
    world.show(IPHONE, "Lock")
    world.expect("it is in the list only", f"{IPHONE} .list > :first-child .title", ["Quietly"])

    region = {"latitude": 31.2304, "longitude": 121.4737, "radius": 200}
    world.send("near", {"title": "Near the shop"}, trigger={"type": "location", "region": region, "notifyOnEntry": True})
    world.step("scheduled", "near")
    browser.click(f"{IPHONE} [value=away]")
    world.step("signal location")
    browser.click(f"{IPHONE} [value=there]")
    world.step("delivered", "near")


def hostile(world: World):
    """Markup, links and marks of direction are text, and nothing of a notification runs."""
    browser = world.browser
    world.open("Notifications")
    title = "<img src=x onerror=\"window.pwned=1\"><script>window.pwned=1</script>"
    body = "\u202egnp.exe\u202c \u2066abc \u202e <a href=\"javascript:window.pwned=1\">x</a>"
    world.send("<b>evil</b>", {
        "title": title, "subtitle": "javascript:window.pwned=1", "body": body,
        "targetContentIdentifier": "javascript:window.pwned=1", "threadIdentifier": "<i>t</i>",
        "attachments": [{"identifier": "<u>p</u>", "url": "https://nowhere.invalid/x.png?onerror=window.pwned=1"}]})
    world.expect("the title is text", f"{IPHONE} .title", [title])
    assert world.texts(f"{IPHONE} .subtitle") == ["javascript:window.pwned=1"]
    assert world.texts(f"{IPHONE} .body") == [body]
    world.step("delivered", "<b>evil</b>")
    # Each text is apart from what is around it.
    isolated = browser.run(
        f"[...document.querySelectorAll('{IPHONE} .title, {IPHONE} .body')].every(one => one.localName === 'bdi')")
    assert isolated
    browser.run(f"document.querySelector('{IPHONE} .list .tap').click()")
    world.expect("the app is open", f"{IPHONE} .screen[data-view=app] h4", [title])
    assert browser.run(f"document.querySelectorAll('{IPHONE} .screen a').length") == 0
    assert browser.run("typeof window.pwned") == "undefined"
    counts = browser.run("['script', 'img[src=x]', 'b', 'i', 'u', 'iframe'].map(name => document.body.querySelectorAll(name).length)")
    assert counts == [0] * 6, counts
    links = browser.run("[...document.links].map(one => one.href)")
    lives = [link for link in links if link.startswith(f"{world.page}v1/recipients/")]
    assert all(link.startswith(("https://", f"{world.page}#")) for link in links if link not in lives), links
    # The page of its whole life has its texts as texts, too.
    parsed = "new DOMParser().parseFromString(text, 'text/html')"
    counted = "['script', 'img', 'a', 'b', 'i', 'u', 'iframe'].map(name => life.querySelectorAll(name).length)"
    # With and without its application: a phone does not know it.
    evil = {link for link in lives if "evil" in link}
    assert 1 <= len(evil) <= 2, evil
    for link in evil:
        counts, text = browser.run(
            f"fetch({json.dumps(link)}).then(answer => answer.text()).then(text => {{ const life = {parsed};"
            f" return [{counted}, life.body.textContent]; }})")
        assert counts == [0] * 7 and "<script>window.pwned=1</script>" in text, (counts, text)
    # The policy of contents holds, whatever an author of the page forgets.
    browser.run("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.pwned=1'}))")
    assert browser.run("typeof window.pwned") == "undefined"
    complaints = browser.complaints()
    assert any("Content Security Policy" in text for text in complaints), complaints
    refused = browser.run("fetch('https://example.com/').then(() => 'sent', () => 'refused')")
    assert refused == "refused"


def many(world: World):
    """A page with 1,000 notifications is still of use."""
    browser = world.browser
    world.open("Notifications")
    for number in range(1_000):
        world.send(f"n-{number}", {"title": f"Number {number}", "threadIdentifier": f"thread {number % 250}"})
    world.expect("the newest is there", f"{IPHONE} .list > :first-child .title", ["Number 999"])
    browser.until("all have come", f"document.querySelectorAll('{IPHONE} .group').length === 250")
    assert len(world.texts("#steps .step")) <= 300
    browser.run(f"document.querySelectorAll('{IPHONE} .group button').forEach(one => one.click())")
    browser.until("all are listed", f"document.querySelectorAll('{IPHONE} .list .notification').length === 1000")
    world.send("n-0", {"title": "Again"})
    world.expect("one takes its place", f"{IPHONE} .list > :first-child .title", ["Again"])
    browser.run(f"document.querySelector('{IPHONE} [data-identifier=n-500] .tap').click()")
    world.step("answered", "n-500")
    world.show(IPHONE, "Notifications")
    browser.until("it is gone", f"!document.querySelector('{IPHONE} [data-identifier=n-500]')")
    # A reader that comes later gets all of it at once.
    world.open("Notifications")
    browser.until("all are there again", f"document.querySelectorAll('{IPHONE} .group').length === 250")


def media(world: World):
    """A picture is that of the media store, and what came of it is told before the delivery."""
    browser = world.browser
    world.open("Notifications")
    world.send("parcel", {"title": "Your parcel", "mutableContent": True,
                          "attachments": [{"identifier": "photo", "url": world.more}]})
    world.expect("it is in the list", f"{IPHONE} .list .title", ["Your parcel"])
    world.step("enriched", "photo attached")
    world.order("requested", "enriched", "delivered", "accepted")
    image = f"document.querySelector('{IPHONE} .list img')"
    browser.until("the picture is drawn", f"{image}?.naturalWidth === 64")
    source = browser.run(f"{image}.src")
    assert "/media/" in source and source != world.more, source
    assert browser.run(f"{image}.alt") == "photo"


def elsewhere(world: World):
    """The page of `carillon phone`, for services of another process."""
    phone = 'section[aria-label="iPhone second of ana"]'
    world.browser.open(world.page)
    world.browser.until("the page is connected", "document.getElementById('sources').textContent === 'Connected to Kafka, APNs'")
    world.add("apns", "second", phone)
    world.show(phone, "Notifications")
    world.send("order", {"title": "On its way"})
    world.expect("it is in the list", f"{phone} .list .title", ["On its way"])
    world.browser.click(f"{phone} .list .tap")
    world.step("answered", "default on second")
    # It is registered once more, and still one phone, when the page is opened again.
    world.browser.open(world.page)
    world.browser.until("the phone is there", f"document.querySelectorAll('{phone}').length === 1")
    world.browser.run(f"document.querySelector('{phone} .settings').open = true")
    world.browser.click(f"{phone} button", "Remove the app")
    world.browser.until("the phone is gone", f"!document.querySelector('{phone}')")


def restart(world: World):
    """The page goes on when everything behind it has begun again. The test begins it again when a line is written."""
    browser = world.browser
    world.open()
    world.add_android()
    world.send("before", {"title": "Before"})
    world.expect("it is shown", f"{ANDROID} .list .title", ["Before"])
    print("restart", flush=True)
    # What the former process had is gone, and the phones are there again.
    browser.until("the page says that it is alone", "document.getElementById('sources').className.includes('broken')")
    world.api = sys.stdin.readline().strip()
    browser.until("the page is connected", "document.getElementById('sources').textContent.startsWith('Connected')")
    browser.until("the Android phone of before is gone", f"!document.querySelector('{ANDROID}')")
    world.show(IPHONE, "Home")
    world.send("after", {"title": "After"})
    world.expect("what comes then is shown", f"{IPHONE} .banner .title", ["After"])
    world.expect("nothing of before is", f"{IPHONE} .title", ["After"])
    world.add_android()


def tokens(world: World):
    """Where the services ask for tokens, the phones have recipient tokens, and the page sends with its operator's."""
    browser = world.browser
    world.open("Notifications")
    browser.run(
        "(() => { const form = document.getElementById('send'); form.elements.identifier.value = 'order';"
        " form.elements.title.value = 'By the page'; form.requestSubmit(); })()")
    world.expect("it is in the list", f"{IPHONE} .list .title", ["By the page"])
    browser.click(f"{IPHONE} .list .tap")
    world.step("answered", "default")
    asked = """(async () => {
      const { token } = await (await fetch('/v1/tokens', {method: 'POST', headers: {'content-type': 'application/json'},
        body: JSON.stringify({recipient: 'ana'})})).json();
      const ask = async (recipient, authorization) => (await fetch(`/v1/recipients/${recipient}/notifications`,
        {headers: authorization ? {authorization} : {}})).status;
      return [await ask('ana', `Bearer ${token}`), await ask('ben', `Bearer ${token}`), await ask('ana'), await ask('ana', 'Bearer x')];
    })()"""
    answers = browser.run(asked)
    assert answers == [200, 403, 401, 401], answers


def names(world: World):
    """Everything that can be used has a role and a name, and everything is reached by the keyboard."""
    browser = world.browser
    world.open("Notifications")
    world.send("order", {"title": "On its way", "body": "Your order has shipped."})
    world.expect("it is in the list", f"{IPHONE} .list .title", ["On its way"])
    nodes = browser.page("Accessibility.getFullAXTree")["nodes"]
    used = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored")]
    for role, name in used:
        assert name or role not in ("button", "textbox", "combobox", "checkbox", "spinbutton", "link", "image"), (role, used)
    for role, name in [("log", "What happens"), ("region", "iPhone iphone of ana"), ("list", "Notifications"),
                       ("region", "Send a notification"), ("button", "Actions"), ("group", "Screen")]:
        assert (role, name) in used, (role, name, used)
    assert any(role == "button" and "On its way" in name for role, name in used), used
    browser.until("it is announced", "document.getElementById('announcer').textContent.includes('On its way')")
    focusable = browser.run("[...document.querySelectorAll('button, input, select, textarea, a[href], summary')]"
                            ".filter(one => one.tabIndex < 0).length")
    assert focusable == 0
    browser.open(world.page)
    browser.press("Tab")
    assert browser.run("document.activeElement.textContent") == "To the phones"


def pictures(world: World):
    """The pictures of the documentation."""
    browser = world.browser
    world.call("PUT", "categories", CATEGORIES)
    browser.page("Emulation.setDeviceMetricsOverride", width=1240, height=700, deviceScaleFactor=1, mobile=False)
    browser.page("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    world.open("Home")
    world.add_android()
    world.show(ANDROID, "Notifications")
    world.send("chat-1", {"title": "Ben", "body": "Are you there?", "threadIdentifier": "chat"})
    world.send("chat-2", {"title": "Ben", "body": "See you at seven!", "threadIdentifier": "chat"})
    world.send("order-1001", {"title": "On its way", "subtitle": "Order 1001", "body": "Your order has shipped.",
                              "categoryIdentifier": "ORDER", "badge": 3, "sound": "default"})
    world.expect("the list is there", f"{ANDROID} .list .title", ["On its way", "Ben"])
    world.send("order-1001", {"title": "Delivered", "subtitle": "Order 1001", "body": "It is at your neighbour's, Mrs Gray.",
                              "categoryIdentifier": "ORDER", "badge": 3, "sound": "default"})
    world.expect("the banner is there", f"{IPHONE} .banner .title", ["Delivered"])
    world.step("device.presented")
    world.expect("it is in the list", f"{ANDROID} .list > :first-child .title", ["Delivered"])
    browser.click(f"{ANDROID} .list .options")
    browser.run("window.scrollTo(0, 0)")
    for theme in ("light", "dark"):
        browser.page("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": theme}, {"name": "prefers-reduced-motion", "value": "reduce"}])
        back = browser.run("getComputedStyle(document.body).backgroundColor")
        brightness = sum(int(number) for number in re.findall(r"\d+", back)[:3])
        assert (brightness > 380) == (theme == "light"), back
        world.picture("phone" if theme == "light" else "phone~dark")


def main():
    name, program, page, api, *more = sys.argv[1:]
    scenario = {one.__name__: one for one in (life, permissions, hostile, many, media, elsewhere, restart, tokens, names, pictures)}[name]
    with Chromium(program) as browser:
        world = World(browser, page, api, more[0] if more else None)
        try:
            scenario(world)
            if scenario is not hostile:
                assert browser.complaints() == [], browser.complaints()
        except BaseException:
            print(f"the page said: {browser.complaints()}", file=sys.stderr)
            raise


if __name__ == "__main__":
    main()
