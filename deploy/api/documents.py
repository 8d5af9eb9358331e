"""Makes the documents of the HTTP interfaces (OpenAPI 3.1) and of the topics (AsyncAPI 3) from the YAML files beside this one and
the JSON Schemas of the model, which the services have embedded: documents.py [--check].

In the YAML files `{$schema-file: NAME}` stands for a file of Sources/NotificationModel/Schemas. Beside it may be `case` (the title of
one of its `oneOf`), `without` (properties that are left out) and `optional` (properties that are no longer required).
"""

import json
import re
import sys
from pathlib import Path

import yaml

HERE = Path(__file__).parent
SCHEMAS = HERE.parents[1] / "Sources/NotificationModel/Schemas"
SOURCES = HERE.parents[1] / "Sources"
WIDTH = 128
DOCUMENTS = {
    "openapi-producer.yaml": "NotificationProducer/HTTP/openapi.json",
    "openapi-queries.yaml": "NotificationConsumer/Query/openapi.json",
    "asyncapi.yaml": "ServiceSupport/HTTP/asyncapi.json",
}


class Bundle:
    """Collects schemas under #/components/schemas."""

    def __init__(self, keeps_titles: bool) -> None:
        self.schemas: dict[str, object] = {}
        self.keeps_titles = keeps_titles

    def add(self, name: str, schema: object) -> None:
        if self.schemas.setdefault(name, schema) != schema:
            sys.exit(f"two schemas have the name {name} and differ")

    def file(self, name: str) -> dict:
        """A file's schema, its definitions among the others: under their own names where all files agree."""
        schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
        definitions = schema.pop("$defs", {})
        names = {key: key for key in definitions}
        for key, definition in definitions.items():
            if self.schemas.get(key, self.resolve(definition, names)) != self.resolve(definition, names):
                names[key] = f"{name}-{key}"
        for key, definition in definitions.items():
            self.add(names[key], self.resolve(definition, names))
        for member in ("$schema", "$id"):
            schema.pop(member, None)
        return self.resolve(schema, names)

    def resolve(self, value: object, names: dict[str, str]) -> object:
        if isinstance(value, dict):
            return {
                key: f"#/components/schemas/{names[member.rsplit('/', 1)[1]]}"
                if key == "$ref" and isinstance(member, str)
                # Generators of clients know the schema of everything as an object only.
                else {name: {} if one is True else self.resolve(one, names) for name, one in member.items()}
                if key == "properties" else self.resolve(member, names)
                for key, member in value.items()
            }
        return [self.resolve(member, names) for member in value] if isinstance(value, list) else value

    def expand(self, value: object) -> object:
        """The same with the files' schemas in their places."""
        if isinstance(value, list):
            return [self.expand(member) for member in value]
        if not isinstance(value, dict):
            return value
        if "$schema-file" not in value:
            return {key: self.expand(member) for key, member in value.items()}
        schema = self.file(value["$schema-file"])
        if case := value.get("case"):
            (schema,) = (one for one in schema["oneOf"] if one["title"] == case)
        left_out, optional = value.get("without", []), value.get("optional", [])
        for name in left_out:
            del schema["properties"][name]
        if left_out or optional:
            for name in optional:
                schema["required"].remove(name)
            schema["required"] = [name for name in schema.get("required", []) if name not in left_out]
            if not schema["required"]:
                del schema["required"]
        # Generators of clients would name their types by titles, which are sentences.
        if not self.keeps_titles and (title := schema.pop("title", None)):
            schema = {"description": title} | schema
        return schema | {key: member for key, member in value.items() if key in ("title", "description")}


def document(file: str) -> dict:
    bundle = Bundle(keeps_titles=not file.startswith("openapi"))
    made = bundle.expand(yaml.safe_load((HERE / file).read_text(encoding="utf-8")))
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    for name, schema in bundle.schemas.items():
        if schemas.setdefault(name, schema) != schema:
            sys.exit(f"{file}: two schemas have the name {name} and differ")
    return made


def wrapped(value: dict) -> str:
    """JSON in lines of bounded length, broken between tokens."""
    lines, line = [], ""
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|[^",]+|,', json.dumps(value, ensure_ascii=False, separators=(",", ":"))):
        if len(line) + len(token) > WIDTH and line:
            lines.append(line)
            line = ""
        line += token
    return "\n".join(lines + [line])


def main() -> None:
    check = sys.argv[1:] == ["--check"]
    for file, path in DOCUMENTS.items():
        target, text = SOURCES / path, wrapped(document(file)) + "\n"
        if not check:
            target.write_text(text, encoding="utf-8")
        elif not target.exists() or target.read_text(encoding="utf-8") != text:
            sys.exit(f"{target} is not what deploy/api/documents.py makes of {file} and the schemas: run it")


if __name__ == "__main__":
    main()
