"""Compares the documents that the services serve with what they do: compare.py PRODUCER QUERIES PRODUCER-OPS CONSUMER-OPS, all of them URLs.

Schemathesis makes calls that the documents allow and calls that they do not, and judges the answers; what it finds is printed, and
the status is 1.
"""

import re
import subprocess
import sys
import tempfile

import httpx
import jsonschema
from openapi_spec_validator import validate

TOPICS = "business-events requests signals devices tokens categories deliveries responses state dead-letters".split()
METHODS = {"get", "put", "post", "delete", "patch", "options", "head", "trace"}
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "response_headers_conformance,negative_data_rejection,unsupported_method"
)


def document(url: str, name: str) -> dict:
    answer = httpx.get(f"{url}/{name}", timeout=30)
    if answer.status_code != 200 or answer.headers["content-type"] != "application/json":
        sys.exit(f"{url}/{name}: {answer.status_code} {answer.headers.get('content-type')}")
    return answer.json()


def routes(ops: str, interface: str) -> set[tuple[str, str]]:
    """Every method of every path of an interface, by the labels of its metrics. HEAD is answered wherever GET is."""
    page = httpx.get(f"{ops}/metrics", timeout=30).text
    labels = re.findall(rf'^carillon_{interface}_request_duration_seconds_count{{method="(\w+)",route="([^"]+)"}}', page, re.MULTILINE)
    return {(method, route) for method, route in labels if "other" not in (method, route) and method != "HEAD"}


def check_routes(openapi: dict, ops: str, interface: str, absent: set[tuple[str, str]]) -> None:
    validate(openapi)
    written = {
        (method.upper(), path) for path, item in openapi["paths"].items() for method in item if method in METHODS
    } - absent
    found = routes(ops, interface)
    if written != found:
        sys.exit(f"{interface}: only in the document {written - found}, only in the service {found - written}")


def references(value: object) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [one for member in value.values() for one in references(member)]
    return [one for member in value for one in references(member)] if isinstance(value, list) else []


def check_topics(asyncapi: dict) -> None:
    addresses = [channel["address"] for channel in asyncapi["channels"].values()]
    if sorted(addresses) != sorted(f"carillon.{topic}" for topic in TOPICS):
        sys.exit(f"channels: {addresses}")
    for reference in references(asyncapi):
        target = asyncapi
        for part in reference.removeprefix("#/").split("/"):
            target = target[part]
    for schema in asyncapi["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    used = {operation["channel"]["$ref"] for operation in asyncapi["operations"].values()}
    if used != {f"#/channels/{name}" for name in asyncapi["channels"]}:
        sys.exit("a channel has no operation")


def call(url: str) -> None:
    # It keeps files in the folder that it runs in.
    with tempfile.TemporaryDirectory() as folder:
        done = made_calls(url, folder)
    if done.returncode != 0:
        sys.exit(f"{url}: {done.stdout[-8000:]}{done.stderr[-2000:]}")
    print(re.search(r"Test cases:\s+(.*)", done.stdout).group(1))


def made_calls(url: str, folder: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [
            sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "run", f"{url}/openapi.json",
            "--url", url, "--checks", CHECKS, "--phases", "examples,coverage,fuzzing", "--max-examples", "10",
            "--generation-deterministic", "--no-shrink", "--continue-on-failure", "--no-color", "--warnings", "off",
        ],
        capture_output=True, text=True, cwd=folder, timeout=800,
    )


def main(producer: str, queries: str, producer_ops: str, consumer_ops: str) -> None:
    # The consumer service of this test fetches no media.
    check_routes(document(producer, "openapi.json"), producer_ops, "http", set())
    check_routes(document(queries, "openapi.json"), consumer_ops, "queries", {("GET", "/media/{file}")})
    topics = document(producer, "asyncapi.json")
    if topics != document(queries, "asyncapi.json"):
        sys.exit("the services differ in the topics")
    check_topics(topics)
    call(producer)
    call(queries)
    page = httpx.get(f"{producer_ops}/metrics", timeout=30).text
    accepted = int(re.search(r'^carillon_http_requests_total{status="202"} (\d+)$', page, re.MULTILINE).group(1))
    refused = int(re.search(r'^carillon_http_requests_total{status="400"} (\d+)$', page, re.MULTILINE).group(1))
    if accepted < 20 or refused < 20:
        sys.exit(f"{accepted} calls were accepted and {refused} refused: too few to say anything")


main(*sys.argv[1:])
