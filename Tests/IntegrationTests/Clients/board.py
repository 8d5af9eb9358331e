#!/usr/bin/env python3
"""Draws the board for Grafana from the answers of a live Prometheus, one SVG file for each of its rows.

usage: board.py draw BOARD PROMETHEUS SECONDS FOLDER
       board.py drive API APNS-CONTROL FCM-CONTROL SECONDS

draw:  BOARD is the JSON file, SECONDS the time that is shown, until now. It prints the name of each file.
drive: gives both services something to do, for so many seconds: what the pictures of the documentation show.
"""

import json
import math
import pathlib
import random
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree

WIDTH, COLUMNS, HEIGHT, GAP = 1200, 24, 34, 8
"""Of a picture, in pixels; a board has 24 columns, and HEIGHT is that of one of its units."""
COLOURS = ["#2f7ed8", "#d9534f", "#3c9d4e", "#e08e0b", "#7d5bb5", "#00838f", "#b0578d", "#6b7280", "#8a6d3b", "#1b4f72"]
STYLE = """svg { background: #fff } text { font: 11px system-ui, sans-serif; fill: #4b5563 } .row { font-size: 17px; font-weight: 600;
fill: #111827 } .title { font-size: 13px; font-weight: 600; fill: #111827 } .panel { fill: #fff; stroke: #d1d5db }
.grid { stroke: #e5e7eb } .line { fill: none; stroke-width: 1.5 }"""


# Asking

def ask(prometheus: str, path: str, **query) -> dict:
    with urllib.request.urlopen(f"{prometheus}/api/v1/{path}?{urllib.parse.urlencode(query)}", timeout=30) as answer:
        return json.load(answer)["data"]


def series(prometheus: str, target: dict, start: float, end: float) -> list[tuple[str, list[tuple[float, float]]]]:
    """The lines of a query: name, and points of time and value."""
    query = target["expr"].replace("$__rate_interval", "10s").replace("$instance", ".*")
    step = max(1, round((end - start) / 120))
    lines = []
    for line in ask(prometheus, "query_range", query=query, start=start, end=end, step=step)["result"]:
        name = target["legendFormat"]
        for label, value in line["metric"].items():
            # Ports are other ones each time.
            name = name.replace("{{%s}}" % label, "instance" if label == "instance" else value)
        points = [(at, float(value)) for at, value in line["values"] if math.isfinite(float(value))]
        if points:
            lines.append((" ".join(dict.fromkeys(name.split(" "))), points))
    return sorted(lines)


# Drawing

def scale(largest: float, unit: str) -> float:
    """The step of four to five lines of a grid that reaches a value."""
    raw = max(largest, 1e-9) / 4
    if unit == "bytes":
        prefix = 1024 ** max(0, math.floor(math.log(raw, 1024)))
        return prefix * scale(4 * raw / prefix, "")
    unit = 10 ** math.floor(math.log10(raw))
    return next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= raw)


def text(value: float, unit: str) -> str:
    if unit == "bytes":
        for name in ("B", "KiB", "MiB", "GiB"):
            if abs(value) < 1024 or name == "GiB":
                return f"{value:.4g} {name}"
            value /= 1024
    if unit == "s":
        return f"{value * 1000:.4g} ms" if 0 < abs(value) < 1 else f"{value:.4g} s"
    return f"{value / 1000:.4g}K" if abs(value) >= 1000 else f"{value:.4g}"


def element(parent, name: str, inside: str | None = None, **attributes):
    made = ElementTree.SubElement(parent, name, {key.replace("_", "-").strip("-"): str(value) for key, value in attributes.items()})
    made.text = inside
    return made


def draw_panel(parent, panel: dict, lines: list, box: tuple, start: float, end: float):
    x, y, width, height = box
    element(parent, "rect", class_="panel", x=x, y=y, width=width, height=height, rx=3)
    element(parent, "text", panel["title"], class_="title", x=x + 10, y=y + 20)
    left, top, right, bottom = x + 58, y + 34, x + width - 12, y + height - 42
    # What is always zero would only fill the legend.
    lines = [one for one in lines if any(value for _, value in one[1])] or lines[:1]
    unit = panel["fieldConfig"]["defaults"].get("unit", "short")
    largest = max((value for _, points in lines for _, value in points), default=0) or 1
    step = scale(largest, unit)
    ceiling = step * math.ceil(largest / step)

    def place(at: float, value: float) -> str:
        return f"{left + (right - left) * (at - start) / (end - start):.0f},{bottom - (bottom - top) * value / ceiling:.1f}"

    for number in range(round(ceiling / step) + 1):
        height_of_line = bottom - (bottom - top) * number * step / ceiling
        element(parent, "line", class_="grid", x1=left, x2=right, y1=round(height_of_line, 1), y2=round(height_of_line, 1))
        element(parent, "text", text(number * step, unit), x=left - 6, y=round(height_of_line + 4, 1), text_anchor="end")
    for part in range(5):
        seconds = round((end - start) * part / 4)
        element(parent, "text", f"{seconds // 60}:{seconds % 60:02}", x=left + (right - left) * part / 4, y=bottom + 14,
                text_anchor="end" if part == 4 else "middle")
    if not lines:
        element(parent, "text", "nothing", x=(left + right) / 2, y=(top + bottom) / 2, text_anchor="middle")
    along = left - 44
    for number, (name, points) in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        element(parent, "polyline", class_="line", stroke=colour, points=" ".join(place(*point) for point in points))
        length = 20 + 6.1 * len(name)
        if along + length < x + width:
            element(parent, "rect", x=round(along, 1), y=bottom + 26, width=10, height=3, fill=colour)
            element(parent, "text", name, x=round(along + 14, 1), y=bottom + 31)
        along += length


def draw(board: str, prometheus: str, seconds: str, folder: str):
    panels = json.loads(pathlib.Path(board).read_text())["panels"]
    end = time.time()
    start = end - float(seconds)
    rows: list[tuple[dict, list[dict]]] = []
    for panel in panels:
        if panel["type"] == "row":
            rows.append((panel, []))
        else:
            rows[-1][1].append(panel)
    unit = WIDTH / COLUMNS
    for row, members in rows:
        first = row["gridPos"]["y"] + 1
        height = HEIGHT + HEIGHT * max(one["gridPos"]["y"] - first + one["gridPos"]["h"] for one in members)
        picture = ElementTree.Element(
            "svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH} {height}", width=str(WIDTH), height=str(height), role="img")
        element(picture, "title", row["title"])
        element(picture, "style", STYLE)
        element(picture, "rect", width=WIDTH, height=height, fill="#fff")
        element(picture, "text", row["title"], class_="row", x=4, y=23)
        for panel in members:
            place = panel["gridPos"]
            lines = [line for target in panel["targets"] for line in series(prometheus, target, start, end)]
            box = (place["x"] * unit + GAP / 2, HEIGHT + (place["y"] - first) * HEIGHT, place["w"] * unit - GAP, place["h"] * HEIGHT - GAP)
            draw_panel(picture, panel, lines, box, start, end)
        file = pathlib.Path(folder, "board-" + row["title"].split(" and ")[0].lower().replace(" ", "-") + ".svg")
        ElementTree.indent(picture, " ")
        file.write_bytes(ElementTree.tostring(picture, encoding="utf-8") + b"\n")
        print(file.name)


# Driving

def call(method: str, url: str, body=None, kind: str = "application/json") -> dict:
    request = urllib.request.Request(url, method=method, data=None if body is None else json.dumps(body).encode(), headers={"content-type": kind})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError:
        return {}


def drive(api: str, apple: str, android: str, seconds: str):
    chance = random.Random(7)
    people = [f"person-{number}" for number in range(40)]
    for person in people:
        token = call("POST", f"{apple}/v1/devices/{person}/tokens", {"topic": "com.example.shop"})["token"]
        call("PUT", f"{api}/v1/recipients/{person}/devices/phone",
             {"platform": "apns", "token": token, "bundleIdentifier": "com.example.shop"})
        token = call("POST", f"{android}/v1/devices/{person}/tokens", {"package": "com.example.shop"})["token"]
        call("PUT", f"{api}/v1/recipients/{person}/devices/pixel", {"platform": "fcm", "token": token})
    begin, number, asked = time.monotonic(), 0, []
    while (now := time.monotonic() - begin) < float(seconds):
        events = []
        for _ in range(int(12 + 10 * math.sin(now / 9) + (60 if 40 < now < 48 else 0))):
            number += 1
            name = chance.choices(["now", "soon", "later", "maybe", "cancelled"], [40, 25, 12, 6, 8])[0]
            identifier = f"order-{chance.randrange(max(1, number - 200), number + 1)}"
            data = {"recipient": chance.choice(people), "identifier": identifier, "title": "On its way", "notify": number % 3 > 0}
            events.append({"specversion": "1.0", "source": "/board", "type": f"com.example.test.{name}", "id": str(number),
                           "subject": data["recipient"], "data": data})
        call("POST", f"{api}/v1/events", events, "application/cloudevents-batch+json")
        person = chance.choice(people)
        path = f"{api}/v1/recipients/{person}"
        identifier = f"chat-{number}"
        answer = call("PUT", f"{path}/notifications/{identifier}", {"content": {"title": "Ben", "body": "Are you there?"}})
        asked.append((path, {"identifier": identifier, "requestId": answer.get("requestId"), "device": "phone", "actionIdentifier": "default"}))
        if len(asked) > 12:
            place, response = asked.pop(0)
            call("POST", f"{place}/responses", response)
        if chance.random() < 0.3:
            call("PUT", f"{path}/notifications/wrong", {"content": {"badge": "many"}})
        if chance.random() < 0.2:
            call("PUT", f"{path}/notifications/{identifier}-hook", {"content": {"title": "Ben"}, "channel": "webhook"})
        time.sleep(0.2)


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    {"draw": draw, "drive": drive}[command](*arguments)
