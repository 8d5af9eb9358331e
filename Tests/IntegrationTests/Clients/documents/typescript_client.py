"""Makes TypeScript clients of the documents that the services serve, as the page Clients says, checks their types and uses them:
typescript_client.py PRODUCER QUERIES FOLDER; the first two are URLs.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import httpx

HERE = Path(__file__).parent
PROGRAMS = Path(sys.executable).parent


def run(*command: object, folder: str) -> None:
    # Nothing is looked for on the network, and nothing is left beside the folder.
    environment = os.environ | {"DENO_DIR": f"{folder}/deno", "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}
    done = subprocess.run(
        [str(one) for one in command], capture_output=True, text=True, timeout=180, cwd=folder, env=environment)
    if done.returncode != 0:
        sys.exit(f"{command[0]} {command[1]}: {done.stdout}{done.stderr}")


def main(producer: str, queries: str, folder: str) -> None:
    for name, url in (("carillon-producer", producer), ("carillon-queries", queries)):
        document = httpx.get(f"{url}/openapi.json", timeout=30).json()
        if events := document["paths"].get("/v1/events"):
            # The code cannot choose between several bodies; the page has the same as a filter of jq.
            for other in ("application/json", "application/cloudevents-batch+json"):
                del events["post"]["requestBody"]["content"][other]
        Path(folder, f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
        run(PROGRAMS / "openapi-generator-cli", "generate", "--generator-name", "typescript-fetch", "--input-spec", f"{name}.json",
            "--output", name, "--additional-properties", "withoutRuntimeChecks=true,importFileExtension=.ts", folder=folder)
    for file in ("typescript_client.ts", "deno.json"):
        shutil.copy(HERE / file, folder)
    run(PROGRAMS / "deno", "run", "--check", "--no-remote", "--allow-net=127.0.0.1", "typescript_client.ts", producer, queries,
        folder=folder)


main(*sys.argv[1:])
