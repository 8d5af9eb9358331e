"""Writes the sample settings of the package from the services' own help: settings-sample.py PRODUCER-HELP CONSUMER-HELP.

Each argument is a file with the output of --help-settings. Every setting is a comment, so that the file changes nothing until
someone takes the comment sign away.
"""

import json
import re
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

HEAD = """\
# Settings of Carillon. Both services read this file; each ignores the keys of the other.
#
# Every line is a comment: take away the "#" before a setting that you change. Shown are the defaults, and where there is none an
# example or nothing. Lists are [a, b]; `a.b.c: 1` and `a: {b: {c: 1}}` are the same. A variable overrides the file:
# CARILLON_HTTP_PORT that of http.port; see the file `environment`.
#
# Set kafka.bootstrap.servers, then: systemctl enable --now carillon-consumer carillon-producer
"""

# Where there is no default, or one of the machine that made the file.
EXAMPLES = {
    "consumer.lanes": "2",
    "kafka.bootstrap.servers": '["kafka-1:9092", "kafka-2:9092"]',
    "media.directory": "/var/lib/carillon/media",
    "rules.file": "/etc/carillon/rules.yaml",
    "store.directory": "/var/lib/carillon/store",
}


class Setting(NamedTuple):
    kind: str
    default: str | None
    about: str


def read(path: str) -> dict[str, Setting]:
    """The settings of a service by key."""
    found = {}
    for block in Path(path).read_text(encoding="utf-8").split("\n\n")[1:]:
        head, kind, *about = block.strip("\n").split("\n")
        key = head.split()[0]
        kind, _, default = kind.strip().partition("; default ")
        found[key] = Setting(kind, default or None, " ".join(line.strip() for line in about))
    if len(found) < 20:
        sys.exit(f"{path} is no output of --help-settings")
    return found


def value(setting: Setting) -> str:
    """As YAML; empty where there is no default."""
    text = setting.default
    if text is None:
        return ""
    if setting.kind.startswith(("an integer", "true or false")):
        return " " + text
    if setting.kind.startswith("a list"):
        return " " + json.dumps(text.split(","))
    return " " + (text if re.fullmatch(r"[a-zA-Z][\w./-]*|\d+(ms|s|m|h|d)", text) else json.dumps(text))


def main(producer_help: str, consumer_help: str) -> None:
    producer, consumer = read(producer_help), read(consumer_help)
    parts = [HEAD]
    group = ""
    for key in sorted(producer | consumer):
        if (first := key.split(".")[0]) != group:
            group = first
            parts.append(f"\n# {'-' * 20} {group}\n")
        readers = [(service, settings[key]) for service, settings in
                   (("producer", producer), ("consumer", consumer)) if key in settings]
        setting = readers[0][1]
        service = "both services" if len(readers) == 2 else f"the {readers[0][0]} service"
        notes = f"{setting.about} ({service}: {setting.kind})"
        if len({default.default for _, default in readers}) > 1:
            notes += " Different by default: " + ", ".join(f"{one.default} of the {name} service" for name, one in readers)
            notes += "; a value here is for both, that for one is a variable in its unit (systemctl edit)."
            setting = setting._replace(default=None)
        parts.append("\n" + "".join(f"# {line}\n" for line in textwrap.wrap(notes, 118, break_on_hyphens=False)))
        example = EXAMPLES.get(key)
        parts.append(f"#{key}: {example}\n" if example else f"#{key}:{value(setting)}\n")
    sys.stdout.write("".join(parts))


main(*sys.argv[1:])
