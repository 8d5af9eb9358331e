"""Checks bodies for FCM against Google's discovery document, which the package google-api-python-client contains.

Reads lines of JSON with the body of a request to messages:send, and writes what is wrong with each; with --compare, whether a
file has the schemas of the document without its texts.
"""

import importlib.resources
import json
import sys


def document() -> dict:
    files = importlib.resources.files("googleapiclient") / "discovery_cache" / "documents" / "fcm.v1.json"
    return json.loads(files.read_text())


def problems(value, schema: dict, schemas: dict, path: str) -> list[str]:
    if "$ref" in schema:
        return problems(value, schemas[schema["$ref"]], schemas, path)
    kind = schema["type"]
    if kind == "object":
        if not isinstance(value, dict):
            return [f"{path}: must be an object"]
        known, others, found = schema.get("properties", {}), schema.get("additionalProperties"), []
        for name, member in value.items():
            own = known.get(name, others)
            found += problems(member, own, schemas, f"{path}.{name}") if own else [f"{path}.{name}: is unknown"]
        return found
    if kind == "array":
        if not isinstance(value, list):
            return [f"{path}: must be an array"]
        return [problem for one in value for problem in problems(one, schema["items"], schemas, path)]
    types = {"string": str, "boolean": bool, "integer": int, "any": object}
    if not isinstance(value, types[kind]) or kind == "integer" and isinstance(value, bool):
        return [f"{path}: must be of type {kind}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{path}: is none of its choices"]
    return []


def stripped(value):
    if isinstance(value, dict):
        texts = ("description", "enumDescriptions")
        return {
            name: stripped(member)
            for name, member in value.items()
            if name not in texts or not isinstance(member, (str, list))
        }
    return [stripped(one) for one in value] if isinstance(value, list) else value


def main() -> None:
    schemas = document()["schemas"]
    if sys.argv[1:2] == ["--compare"]:
        for name, schema in json.load(open(sys.argv[2]))["schemas"].items():
            if stripped(schemas.get(name)) != schema:
                print(f"{name}: is not as in the document")
        return
    for line in sys.stdin:
        for problem in problems(json.loads(line), {"$ref": "SendMessageRequest"}, schemas, ""):
            print(problem, flush=True)


main()
