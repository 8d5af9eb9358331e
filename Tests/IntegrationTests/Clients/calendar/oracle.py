"""Expected occurrences of calendar triggers, by other means than the engine's.

Dates come from a table of days with the fields of Python's `datetime`, and where RFC 5545 can express them also from
`dateutil.rrule`, which must agree. Instants come from `zoneinfo`, whose `fold` resolves gaps and overlaps (PEP 495).
"""

import functools
import itertools
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from dateutil import rrule

EPOCH = datetime(1970, 1, 1)
# 60 years of 365.25 days from the start of a search.
HORIZON = 21_915 * 86_400
TIME = ("hour", "minute", "second")
# Whether the table of days is compared with RFC 5545's rules, which takes milliseconds.
CHECK_RULES = True


class Refused(Exception):
    """The trigger must be refused."""


# ---- Which sets of components are allowed

def _legal_dates():
    """All sets of date components without a hole, as unions of complete chains."""
    chains = [{"day"}, {"dayOfYear"}, {"weekday"}, {"weekday", "weekOfYear"},
              {"weekday", "weekOfYear", "yearForWeekOfYear"}, {"year", "dayOfYear"}]
    for low in ({"day"}, {"weekday", "weekdayOrdinal"}, {"weekday", "weekOfMonth"}):
        chains.append(low)
        for extra in (set(), {"quarter"}, {"year"}, {"year", "quarter"}):
            chains.append(low | {"month"} | extra)
    chains += [chain | {"era"} for chain in chains if "year" in chain]
    unions = {frozenset()}
    for chain in chains:
        unions |= {union | chain for union in unions}
    return unions - {frozenset()}


LEGAL_DATES = _legal_dates()
# Without a day the smallest component takes its minimum, so nothing may be set below.
WITHOUT_DAY = {frozenset(s) | e for s in (("month",), ("quarter",), ("quarter", "month"), ("year",), ("year", "month"),
                                         ("year", "quarter"), ("year", "quarter", "month"))
               for e in ({"era"}, set()) if not e or "year" in s}
LEGAL_TIMES = [(), ("hour",), ("hour", "minute"), ("hour", "minute", "second")]
WILD_TIMES = [("minute",), ("second",), ("minute", "second")]
RANGES = {"era": (0, 1), "year": (1, 9999), "quarter": (1, 4), "month": (1, 12), "weekOfYear": (1, 53),
          "weekOfMonth": (1, 5), "yearForWeekOfYear": (1, 9999), "weekday": (1, 7), "weekdayOrdinal": (1, 5),
          "day": (1, 31), "dayOfYear": (1, 366), "hour": (0, 23), "minute": (0, 59), "second": (0, 59)}


# The components that may have several values.
LISTS = ("month", "weekday", "day", "hour")


def several(value):
    return value if isinstance(value, list) else [value]


def check(components, missing_day):
    if not components:
        raise Refused("empty")
    for name, value in components.items():
        low, high = RANGES[name]
        values = several(value)
        if not values or not all(low <= one <= high for one in values) or isinstance(value, list) and name not in LISTS:
            raise Refused(name)
    dates = frozenset(components) - set(TIME)
    time = tuple(name for name in TIME if name in components)
    if not dates:
        if time not in LEGAL_TIMES[1:] + WILD_TIMES:
            raise Refused("time")
    elif dates in LEGAL_DATES:
        if time not in LEGAL_TIMES:
            raise Refused("time")
    elif dates not in WITHOUT_DAY or time:
        raise Refused("hole")
    if components.get("era") == 0:
        raise Refused("era")
    if missing_day is not None:
        if "day" not in components:
            raise Refused("missingDay")
        if missing_day != "skip" and {"weekday", "dayOfYear"} & set(components):
            raise Refused("missingDay")


# ---- Dates

@functools.cache
def _fields(year):
    """The days of a year, with their fields."""
    days = []
    day = date(year, 1, 1)
    while day.year == year:
        iso = day.isocalendar()
        fourth = day.replace(day=4)
        # Week 1 of a month is the week of its fourth day, as week 1 of a year is that of 4 January.
        month_week = (_monday(day) - _monday(fourth)).days // 7 + 1
        days.append((day, {
            "year": year, "month": day.month, "day": day.day, "quarter": (day.month - 1) // 3 + 1,
            "dayOfYear": day.timetuple().tm_yday, "weekday": day.isoweekday() % 7 + 1,
            "weekdayOrdinal": (day.day - 1) // 7 + 1, "weekOfMonth": month_week,
            "weekOfYear": iso.week, "yearForWeekOfYear": iso.year, "era": 1}))
        day += timedelta(days=1)
    return days


def _monday(day):
    return day - timedelta(days=day.weekday())


def dates(components, missing_day, start, searches=1):
    """Matching dates from `start` on, ascending, for the horizon of so many searches."""
    wanted = {name: several(value) for name, value in components.items() if name not in TIME}
    if wanted and not {"day", "dayOfYear", "weekday"} & set(wanted):
        wanted["day"] = [1]
        if "month" not in wanted:
            wanted["month"] = [wanted["quarter"][0] * 3 - 2 if "quarter" in wanted else 1]
    years = range(start.year - 1, min(start.year + 61 * searches + 1, 9990))
    for name, slack in (("year", 0), ("yearForWeekOfYear", 1)):
        if name in wanted:
            years = [year for year in years if abs(year - wanted[name][0]) <= slack]
    if missing_day in ("previous", "nextTime"):
        yield from (day for day in _moved(wanted, missing_day, years) if day >= start)
        return
    items = wanted.items()
    for year in years:
        if year < start.year:
            continue
        # Only the days that can count: from the start on, and in the months.
        low, high = 0, 366
        if year == start.year:
            low = start.timetuple().tm_yday - 1
        if "month" in wanted:
            first = date(year, min(wanted["month"]), 1).timetuple().tm_yday - 1
            last = date(year, max(wanted["month"]), 1).timetuple().tm_yday - 1
            low, high = max(low, first), last + 31
        for day, fields in _fields(year)[low:high]:
            if all(fields[name] in values for name, values in items):
                yield day


def _moved(wanted, missing_day, years):
    found = set()
    for year, month in itertools.product(years, range(1, 13)):
        # Days of a month move into the next one at most.
        yield from sorted(day for day in found if (day.year, day.month) < (year, month))
        found = {day for day in found if (day.year, day.month) >= (year, month)}
        quarter = (month + 2) // 3
        if month not in wanted.get("month", [month]) or quarter not in wanted.get("quarter", [quarter]):
            continue
        for day in wanted["day"]:
            try:
                found.add(date(year, month, day))
            except ValueError:
                after = date(year + month // 12, month % 12 + 1, 1)
                found.add(after if missing_day == "nextTime" else after - timedelta(days=1))
    yield from sorted(found)


WEEKDAYS = [None, rrule.SU, rrule.MO, rrule.TU, rrule.WE, rrule.TH, rrule.FR, rrule.SA]


def weekdays(components):
    return [WEEKDAYS[value] for value in several(components["weekday"])]


def rule(components, start, end):
    """The same dates by RFC 5545, or None where it has no words for them."""
    names = frozenset(components) - set(TIME)
    options = {"dtstart": datetime.combine(start, datetime.min.time()), "until": end, "wkst": rrule.MO}
    if not names:
        return rrule.rrule(rrule.DAILY, **options)
    if names == {"weekday"}:
        return rrule.rrule(rrule.WEEKLY, byweekday=weekdays(components), **options)
    if names <= {"month", "day", "weekday"} and "day" in names:
        if "weekday" in names:
            options["byweekday"] = weekdays(components)
        return rrule.rrule(rrule.MONTHLY, bymonth=components.get("month"), bymonthday=components["day"], **options)
    if names in ({"weekday", "weekdayOrdinal"}, {"month", "weekday", "weekdayOrdinal"}):
        nth = [day(components["weekdayOrdinal"]) for day in weekdays(components)]
        return rrule.rrule(rrule.MONTHLY, bymonth=components.get("month"), byweekday=nth, **options)
    if names == {"dayOfYear"}:
        return rrule.rrule(rrule.YEARLY, byyearday=components["dayOfYear"], **options)
    # dateutil 2.9.0 counts Sunday 2 January 2011 and 2022 to week 53; ISO 8601 (and `isocalendar`) to week 52.
    if names == {"weekday", "weekOfYear"} and components["weekOfYear"] < 52:
        return rrule.rrule(rrule.YEARLY, byweekno=components["weekOfYear"],
                           byweekday=weekdays(components), **options)
    return None


# ---- Instants

@functools.cache
def zone(name):
    return ZoneInfo(name)


def seconds(moment):
    delta = moment - EPOCH
    return delta.days * 86400 + delta.seconds


def local(tz, instant):
    return (EPOCH.replace(tzinfo=timezone.utc) + timedelta(seconds=instant)).astimezone(tz).replace(tzinfo=None, fold=0)


def instants(tz, wall, gap, overlap):
    """The instants of a wall-clock time under the policies."""
    first = seconds(wall) - int(wall.replace(tzinfo=tz, fold=0).utcoffset().total_seconds())
    last = seconds(wall) - int(wall.replace(tzinfo=tz, fold=1).utcoffset().total_seconds())
    if first == last:
        return [first]
    if local(tz, first) != wall:
        return {"nextTime": [first], "previous": [last], "skip": []}[gap]
    return {"first": [first], "last": [last], "both": [first, last]}[overlap]


def occurrences(query):
    """The expected milliseconds; raises Refused where the trigger must be."""
    components = query["components"]
    missing_day = query.get("missingDay")
    check(components, missing_day)
    gap, overlap = query.get("gap") or "nextTime", query.get("overlap") or "first"
    tz = zone(query["zone"])
    after, not_before = query["after"], query.get("notBefore")
    # Milliseconds to the first whole second that counts.
    least = after // 1000 + 1
    if not_before is not None:
        least = max(least, -(-not_before // 1000))
    count = query["count"] if query["repeats"] else 1

    hour = components.get("hour")
    wild = hour is None and not set(components) - set(TIME)
    if wild:
        found = _any_hour(components, tz, least, count)
    else:
        rest = timedelta(minutes=components.get("minute", 0), seconds=components.get("second", 0))
        clocks = [timedelta(hours=value) + rest for value in sorted(several(hour or 0))]
        start = local(tz, least).date() - timedelta(days=4)
        walls = (datetime.combine(day, datetime.min.time()) + clock
                 for day in dates(components, missing_day, start, count) for clock in clocks)
        found, stop = set(), None
        for wall in walls:
            if stop and wall > stop:
                break
            found.update(u for u in instants(tz, wall, gap, overlap) if u >= least)
            # Dates that follow within three days may have earlier instants.
            if len(found) >= count and stop is None:
                stop = wall + timedelta(days=3)
        if CHECK_RULES and missing_day in (None, "skip") and count <= 4:
            _agree(components, query, start)
    found = sorted(found)[:count]
    for number, (before, instant) in enumerate(zip([least - 1] + found, found)):
        if instant - before > HORIZON:
            found = found[:number]
            break
    if not found:
        raise Refused("never")
    return [u * 1000 for u in found]


def _any_hour(components, tz, least, count):
    """All passes of all local hours (or minutes) around the start."""
    step = timedelta(minutes=1) if "minute" not in components else timedelta(hours=1)
    wall = local(tz, least) - timedelta(hours=27)
    wall = wall.replace(second=components.get("second", 0), microsecond=0)
    if "minute" in components:
        wall = wall.replace(minute=components["minute"])
    found, end = set(), wall + timedelta(hours=56) + count * step
    while wall < end:
        found.update(u for u in instants(tz, wall, "skip", "both") if u >= least)
        wall += step
    return found


def _agree(components, query, start):
    until = datetime.combine(start, datetime.min.time()) + timedelta(days=1500)
    expected = rule(components, start, until)
    if expected is None:
        return
    mine = list(itertools.takewhile(lambda day: day <= until.date(), dates(components, None, start)))
    assert mine == [moment.date() for moment in expected], ("the two oracles differ", query)
