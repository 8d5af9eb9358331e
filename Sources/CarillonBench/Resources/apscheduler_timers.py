"""Pending notifications in APScheduler with its memory job store: a job with a date trigger and the body as its argument.

    python apscheduler_timers.py COUNT BODY

BODY has {n} where the number of the entry goes. It prints one JSON object with the seconds that adding the jobs took, how
many are there, and the resident memory that they added.

Requirements: apscheduler
"""

import json
import os
import random
import sys
import time
from datetime import datetime, timedelta, timezone

from apscheduler.schedulers.background import BackgroundScheduler


def send(body):
    """What a job would do; none comes due here."""


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main():
    count, body = int(sys.argv[1]), sys.argv[2]
    scheduler = BackgroundScheduler(timezone=timezone.utc)
    scheduler.start(paused=True)
    chance = random.Random(1)
    now = datetime.now(timezone.utc)
    before = resident()
    started = time.perf_counter()
    for number in range(count):
        digits = "%08d" % number
        scheduler.add_job(
            send,
            "date",
            run_date=now + timedelta(weeks=1 + chance.random()),
            args=[body.replace("{n}", digits)],
            id=f"shop/user-{digits}/order-{digits}",
        )
    seconds = time.perf_counter() - started
    added = resident() - before
    print(json.dumps({"seconds": seconds, "entries": len(scheduler.get_jobs()), "resident_bytes": added}))
    scheduler.shutdown(wait=False)


if __name__ == "__main__":
    main()
