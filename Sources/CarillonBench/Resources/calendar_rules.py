"""Occurrences of calendar triggers with dateutil's rrule, and the instants that zoneinfo gives them.

    python calendar_rules.py list|SECONDS FILE

FILE is a JSON object with the triggers, the instants to start from, and how many occurrences follow from each. With `list` it
prints the occurrences as seconds since 1970; else it computes all of them again and again for so many seconds, and prints one
JSON object with the number of passes, their seconds, and the sum of the occurrences.

The rules are made before the measurement: only their iteration and the conversion to instants count.

Requirements: python-dateutil
"""

import json
import sys
import time
from datetime import datetime
from itertools import islice
from zoneinfo import ZoneInfo

from dateutil import rrule

WEEKDAYS = [None, rrule.SU, rrule.MO, rrule.TU, rrule.WE, rrule.TH, rrule.FR, rrule.SA]


def rule(components, zone, start):
    """The rule of a trigger, with the occurrences after an instant."""
    fields = {"bysecond": components["second"], "byminute": components["minute"]}
    frequency = rrule.HOURLY
    if "hour" in components:
        frequency = rrule.DAILY
        fields["byhour"] = components["hour"]
    if "weekday" in components:
        weekday = WEEKDAYS[components["weekday"]]
        frequency = rrule.WEEKLY
        if "weekdayOrdinal" in components:
            frequency = rrule.MONTHLY
            weekday = weekday(components["weekdayOrdinal"])
        fields["byweekday"] = weekday
    if "day" in components:
        frequency = rrule.MONTHLY
        fields["bymonthday"] = components["day"]
    if "month" in components:
        frequency = rrule.YEARLY
        fields["bymonth"] = components["month"]
    # Its first occurrence may be at its start, which does not count.
    return rrule.rrule(frequency, dtstart=datetime.fromtimestamp(start + 1, zone), **fields)


def occurrences(rule, length):
    return [int(found.timestamp()) for found in islice(rule, length)]


def main():
    mode, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        work = json.load(file)
    length = work["length"]
    rules = [
        [rule(trigger["components"], ZoneInfo(trigger["zone"]), start) for start in trigger["starts"]]
        for trigger in work["triggers"]
    ]
    if mode == "list":
        print(json.dumps([[occurrences(one, length) for one in of_trigger] for of_trigger in rules]))
        return
    passes = total = 0
    started = time.perf_counter()
    while True:
        for of_trigger in rules:
            for one in of_trigger:
                total += sum(occurrences(one, length))
        passes += 1
        seconds = time.perf_counter() - started
        if seconds >= float(mode):
            break
    print(json.dumps({"passes": passes, "seconds": seconds, "sum": total}))


if __name__ == "__main__":
    main()
