"""Checks examples against their JSON Schemas: on standard input a line for each, {"schema": name, "json": text}.

Standard output: how many fit. Every problem is a line on standard error, and the status is then 1.
"""

import json
import pathlib
import sys

import jsonschema


def main() -> int:
    validators: dict[str, jsonschema.Draft202012Validator] = {}
    checked = problems = 0
    for line in sys.stdin:
        example = json.loads(line)
        name = example["schema"]
        if name not in validators:
            schema = json.loads((pathlib.Path(sys.argv[1]) / f"{name}.json").read_text())
            validators[name] = jsonschema.Draft202012Validator(schema)
        errors = list(validators[name].iter_errors(json.loads(example["json"])))
        for error in errors:
            print(f"{name}: {error.message}: {example['json']}", file=sys.stderr)
        checked += 1
        problems += len(errors)
    print(checked - problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
