#!/usr/bin/env python3
"""Compares the engine with the oracle.

    swift build -c release --product calendar-oracle
    export PYTHONTZPATH=/usr/share/zoneinfo
    .build/python/bin/python Tests/IntegrationTests/Clients/calendar/compare.py sample --seed 1 --count 20000
    .build/python/bin/python Tests/IntegrationTests/Clients/calendar/compare.py sweep [--zones PREFIX]

`sample`: random zones, components, policies and times; half of them near a change of the offset.
`sweep`: every change of the offset of every distinct zone from 1970 to 2100, with times around it and all policies.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import threading
import zoneinfo
from collections import Counter

sys.path.insert(0, os.path.dirname(__file__))
import oracle  # noqa: E402

# The engine, which answers a query a line.
ENGINE = os.environ.get("CALENDAR_ORACLE", ".build/release/calendar-oracle")
ROOT = "/usr/share/zoneinfo"
FROM, TO = 0, 4102444800  # 1970 to 2100
GAPS, OVERLAPS = ["nextTime", "skip", "previous"], ["first", "last", "both"]


def names():
    found = []
    for line in open(f"{ROOT}/tzdata.zi"):
        words = line.split()
        if words and words[0] in "ZL":
            found.append(words[1 if words[0] == "Z" else 2])
    return sorted(name for name in found if name != "Factory")


def distinct(zones):
    """One zone for each content."""
    return sorted({open(f"{ROOT}/{name}", "rb").read(): name for name in reversed(zones)}.values())


def offset(tz, instant):
    return int((oracle.EPOCH.replace(tzinfo=oracle.timezone.utc) + oracle.timedelta(seconds=instant))
               .astimezone(tz).utcoffset().total_seconds())


def changes(tz, start, end, step=86400):
    """Changes of the offset, by steps and bisection."""
    before = offset(tz, start)
    for at in range(start + step, end, step):
        now = offset(tz, at)
        if now != before:
            low, high = at - step, at
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(tz, middle) == before else (low, middle)
            yield high, before, now
            before = now


SHAPES = [
    ("hour",), ("hour", "minute"), ("hour", "minute", "second"), ("minute",), ("minute", "second"), ("second",),
    ("weekday",), ("weekday", "hour", "minute"), ("weekday", "hour"), ("month", "day", "hour", "minute"), ("day",), ("day", "hour", "minute"), ("month", "day", "hour"),
    ("month",), ("quarter",), ("year",), ("year", "month"), ("year", "quarter"), ("year", "month", "day"),
    ("year", "month", "day", "hour", "minute"), ("era", "year", "month", "day", "hour"),
    ("weekday", "weekdayOrdinal", "hour"), ("month", "weekday", "weekdayOrdinal"),
    ("year", "month", "weekday", "weekdayOrdinal", "hour"), ("weekday", "weekOfMonth", "hour", "minute"),
    ("month", "weekday", "weekOfMonth"), ("weekday", "weekOfYear"), ("weekday", "weekOfYear", "hour", "minute"),
    ("yearForWeekOfYear", "weekOfYear", "weekday", "hour"), ("dayOfYear", "hour"), ("year", "dayOfYear"),
    ("day", "weekday", "hour"), ("month", "day", "weekday"), ("quarter", "month", "day"), ("dayOfYear", "weekday"),
    ("weekday", "weekOfYear", "day"), ("weekday", "weekdayOrdinal", "weekOfMonth"), ("day", "dayOfYear"),
    ("weekOfYear", "weekday", "dayOfYear"), ("yearForWeekOfYear", "weekOfYear", "weekday", "month", "day"),
]


def value(random_, name, now):
    if name in oracle.LISTS and random_.random() < 0.35:
        # Also empty and of one value; each value once.
        values = {one_value(random_, name, now) for _ in range(random_.randint(0, 6))}
        return random_.sample(sorted(values), len(values))
    return one_value(random_, name, now)


def one_value(random_, name, now):
    if name in ("year", "yearForWeekOfYear"):
        return now.year + random_.choice([-1, 0, 0, 0, 1, 1, 2, 7, 59, 61])
    if name == "era":
        return 1 if random_.random() < 0.9 else 0
    low, high = oracle.RANGES[name]
    edge = random_.random()
    if edge < 0.02:
        return random_.choice([low - 1, high + 1])
    return high if edge < 0.15 else low if edge < 0.2 else random_.randint(low, high)


def random_query(random_, zones, number):
    name = random_.choice(zones)
    tz = oracle.zone(name)
    after = random_.randrange(FROM, TO) * 1000 + random_.choice([0, 0, 1, 400, 999])
    wall, change = None, None
    if random_.random() < 0.6:
        start = random_.randrange(FROM, TO - 3 * 366 * 86400)
        change = next(changes(tz, start, start + 3 * 366 * 86400, 5 * 86400), None)
    if change:
        at, before, now = change
        length = abs(now - before)
        wall = oracle.EPOCH + oracle.timedelta(seconds=at + min(before, now) + random_.randrange(-3600, length + 3600))
        after = at * 1000 + random_.choice([-3, -2, -1, -1, 0, 0, 1]) * random_.randrange(1, 86_400_000)
        if random_.random() < 0.2:
            after = at * 1000 + random_.choice([-1, 0, 1, -1000, 1000, -length * 1000, length * 1000])
    moment = oracle.local(tz, after // 1000)
    shape = random_.choice(SHAPES)
    if random_.random() < 0.1:
        shape = random_.sample(sorted(oracle.RANGES), random_.randint(1, 6))
    components = {field: value(random_, field, moment) for field in shape}
    if wall and random_.random() < 0.7:
        for field in components:
            if field in ("year", "month", "day", "hour", "minute", "second"):
                near = getattr(wall, field)
                if isinstance(components[field], list) and components[field]:
                    components[field][0] = near
                    components[field] = list(set(components[field]))
                else:
                    components[field] = near
    query = {"id": number, "zone": name, "components": components, "repeats": random_.random() < 0.85,
             "after": after, "count": random_.randint(1, 6)}
    for field, values in (("gap", GAPS), ("overlap", OVERLAPS)):
        if random_.random() < 0.8:
            query[field] = random_.choice(values)
    if random_.random() < (0.4 if "day" in components else 0.02):
        query["missingDay"] = random_.choice(["skip", "previous", "nextTime"])
    if random_.random() < 0.2:
        query["notBefore"] = after + random_.randrange(-86_400_000, 400 * 86_400_000)
    return query


def sample(seed, count):
    random_ = random.Random(seed)
    zones = names()
    return (random_query(random_, zones, number) for number in range(count))


def sweep(zones):
    number = 0
    for name in zones:
        tz = oracle.zone(name)
        for at, before, now in changes(tz, FROM, TO):
            length = abs(now - before)
            low = at + min(before, now)
            for shift in (0, length // 2, length):
                wall = oracle.EPOCH + oracle.timedelta(seconds=low + shift)
                clock = {"hour": wall.hour, "minute": wall.minute, "second": wall.second}
                full = {"year": wall.year, "month": wall.month, "day": wall.day} | clock
                policies = [("gap", gap) for gap in GAPS] if now > before else [("overlap", o) for o in OVERLAPS]
                for policy in policies:
                    base = {"zone": name, policy[0]: policy[1]}
                    yield base | {"id": number, "components": full, "repeats": False, "count": 1,
                                  "after": (at - 2 * 86400) * 1000}
                    yield base | {"id": number + 1, "components": clock, "repeats": True, "count": 4,
                                  "after": (at - 86400 - length) * 1000}
                    number += 2
                # From inside the change: the next one, and no second firing.
                yield {"id": number, "zone": name, "components": clock, "repeats": True, "count": 2,
                       "after": (at + (shift - length) // 2) * 1000}
                wild = {"minute": wall.minute, "second": wall.second}
                yield {"id": number + 1, "zone": name, "components": wild, "repeats": True, "count": 5,
                       "after": (at - length - 3601) * 1000}
                number += 2


def compare(queries):
    engine = subprocess.Popen([ENGINE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1 << 16)
    pending = []
    counts = Counter()

    def feed():
        for query in queries:
            pending.append(query)
            engine.stdin.write(json.dumps(query) + "\n")
        engine.stdin.close()

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    for position, line in enumerate(engine.stdout):
        answer, query = json.loads(line), pending[position]
        pending[position] = None
        assert answer["id"] == query["id"]
        try:
            expected = oracle.occurrences(query)
        except oracle.Refused as error:
            expected, refusal = [], str(error)
        counts["queries"] += 1
        counts["occurrences"] += len(expected)
        counts["refused"] += not expected
        if expected != answer["milliseconds"] or answer.get("fault") or bool(expected) == ("reason" in answer):
            counts["mismatches"] += 1
            if counts["mismatches"] <= 20:
                print("MISMATCH", json.dumps(query), "\n  expected", expected or refusal, "\n  answered", line.strip())
    feeder.join()
    assert engine.wait() == 0 and counts["queries"] == len(pending)
    print({"mismatches": 0} | counts, f"Python zoneinfo {zoneinfo.TZPATH}")
    return counts["mismatches"] == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("sample")
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--count", type=int, default=20_000)
    command = commands.add_parser("sweep")
    command.add_argument("--zones", default="", help="only names that begin with this")
    options = parser.parse_args()
    if tuple(zoneinfo.TZPATH) != (ROOT,):
        sys.exit(f"set PYTHONTZPATH={ROOT}")
    if options.command == "sample":
        passed = compare(sample(options.seed, options.count))
    else:
        oracle.CHECK_RULES = False
        passed = compare(sweep(distinct([name for name in names() if name.startswith(options.zones)])))
    sys.exit(0 if passed else 1)


main()
