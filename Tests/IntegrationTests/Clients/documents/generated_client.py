"""Makes Python clients of the documents that the services serve, as the page Clients says, and uses them:
generated_client.py PRODUCER QUERIES FOLDER; the first two are URLs.
"""

import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import httpx


def make(url: str, folder: str, name: str, bodies_of_events: bool) -> None:
    """Makes the package `name` in the folder."""
    document = httpx.get(f"{url}/openapi.json", timeout=30).json()
    if bodies_of_events:
        # The generator's code cannot choose between several bodies; the page has the same as a filter of jq.
        bodies = document["paths"]["/v1/events"]["post"]["requestBody"]["content"]
        for other in ("application/json", "application/cloudevents-batch+json"):
            del bodies[other]
    path = Path(folder, f"{name}.json")
    path.write_text(json.dumps(document), encoding="utf-8")
    # It formats what it has made with ruff, which is beside it.
    programs = str(Path(sys.executable).parent)
    done = subprocess.run(
        [
            f"{programs}/openapi-python-client", "generate", "--path", path, "--output-path", Path(folder, name),
            "--meta", "none",
        ],
        capture_output=True, text=True, timeout=120, env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"},
    )
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stdout}{done.stderr}")
    # Of everything but media, which are no JSON, there is a function.
    operations = {
        operation["operationId"] for path, item in document["paths"].items() for operation in item.values()
        if isinstance(operation, dict) and "operationId" in operation and not path.startswith("/media/")
    }
    modules = {file.stem.replace("_", "") for file in Path(folder, name, "api").glob("*/*.py")}
    if missing := {one for one in operations if one.lower() not in modules}:
        sys.exit(f"{name} has no {missing}: {done.stdout}")


def expect(what: str, is_so: bool, found: object) -> None:
    if not is_so:
        sys.exit(f"{what}: {found}")


def until(what: str, ask) -> None:
    end = time.monotonic() + 60
    while not (found := ask())[0]:
        expect(what, time.monotonic() < end, found)
        time.sleep(0.1)


def use(producer: str, queries: str) -> None:
    import carillon_queries
    from carillon_producer import Client
    from carillon_producer.api.events import publish_events
    from carillon_producer.api.notifications import put_notification, remove_notification
    from carillon_producer.models import BusinessEvent, Notification, Problem, RemoveNotificationState
    from carillon_queries.api.notifications import get_notification, list_notifications
    from carillon_queries.models import ListNotificationsState

    client, questions = Client(base_url=producer), carillon_queries.Client(base_url=queries)
    recipient = f"ana-{uuid.uuid4()}"

    event = BusinessEvent.from_dict({
        "specversion": "1.0", "id": str(uuid.uuid4()), "source": "/generated", "type": "com.example.test.later",
        "data": {"recipient": recipient, "identifier": "by-event", "title": "By an event"},
    })
    answer = publish_events.sync_detailed(client=client, body=event)
    expect("an event", answer.status_code == 202 and answer.parsed.id == event.id, answer)

    notification = Notification.from_dict({
        "content": {"title": "On its way", "sound": "default"}, "trigger": {"type": "timeInterval", "timeInterval": 3600},
    })
    answer = put_notification.sync_detailed(recipient, "order/1", client=client, body=notification)
    expect("a notification", answer.status_code == 202 and answer.parsed.request_id, answer)
    request = answer.parsed.request_id

    def pending() -> dict:
        page = list_notifications.sync(recipient, client=questions, application="shop", state=ListNotificationsState.PENDING)
        return {one.identifier: one.pending for one in page.notifications}

    until("both are pending", lambda: (len(found := pending()) == 2, found))
    found = pending()
    expect("their identifiers", set(found) == {"by-event", "order/1"}, found)
    expect("its request", found["order/1"].request_id == request, found)
    expect("its content", found["order/1"].content["title"] == "On its way", found)

    answer = remove_notification.sync_detailed(recipient, "order/1", client=client, state=RemoveNotificationState.PENDING)
    expect("a cancel", answer.status_code == 202, answer)
    until("it is cancelled", lambda: (set(found := pending()) == {"by-event"}, found))
    answer = get_notification.sync_detailed(recipient, "order/1", client=questions, application="shop")
    expect("nothing is under it", answer.status_code == 404 and answer.parsed.reason == "not-found", answer)

    wrong = Notification.from_dict({"content": {"title": "No"}, "trigger": {"type": "timeInterval", "timeInterval": -1}})
    answer = put_notification.sync_detailed(recipient, "wrong", client=client, body=wrong)
    problem = answer.parsed
    expect("a wrong input's problem", answer.status_code == 400 and isinstance(problem, Problem), answer)
    expect("its reason and field", (problem.reason, problem.field) == ("invalid", "trigger.timeInterval"), problem)


def main(producer: str, queries: str, folder: str) -> None:
    make(producer, folder, "carillon_producer", bodies_of_events=True)
    make(queries, folder, "carillon_queries", bodies_of_events=False)
    sys.path.insert(0, folder)
    use(producer, queries)


main(*sys.argv[1:])
