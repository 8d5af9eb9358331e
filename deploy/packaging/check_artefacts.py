"""Compares the artefacts with each other and with the documentation; prints every fault and ends with 1 if there is one."""

import re
import sys
from pathlib import Path

import kubernetes_validate
import yaml

KUBERNETES = "1.33"
PAGES = Path("Sources/carillon/carillon.docc")
MANIFESTS = Path("deploy/kubernetes")
CONTAINER = Path("deploy/container")
# Kinds of operators, whose schemas no package has.
FURTHER_KINDS = {
    ("kafka.strimzi.io/v1", "KafkaTopic"),
    ("keda.sh/v1alpha1", "ScaledObject"),
    ("monitoring.coreos.com/v1", "PodMonitor"),
    ("kustomize.config.k8s.io/v1beta1", "Kustomization"),
}
NAME = "app.kubernetes.io/name"

faults: list[str] = []


def check(condition: object, fault: str) -> None:
    if not condition:
        faults.append(fault)


def documents(path: Path) -> list[dict]:
    return [document for document in yaml.safe_load_all(path.read_text(encoding="utf-8")) if document]


def table(page: str) -> dict[str, str]:
    """The first code cell of each row of the tables of a page, with the code of the second one."""
    text = (PAGES / page).read_text(encoding="utf-8")
    return {name: value for name, value in re.findall(r"^\| `([^`]+)` \| (?:`([^`]*)`)?", text, re.MULTILINE)}


SETTINGS = table("Settings.md")
METRICS = table("Metrics.md")
VARIABLES = {"CARILLON_" + re.sub(r"[^A-Za-z0-9]|(?<=[a-z])(?=[A-Z])", "_", key).upper(): key for key in SETTINGS}


def keys(value: dict, prefix: str = "") -> list[str]:
    """The dotted keys of a settings file; `kafka.properties` has names of librdkafka."""
    found = []
    for key, member in value.items():
        name = prefix + key
        found += keys(member, name + ".") if isinstance(member, dict) and name != "kafka.properties" else [name]
    return found


def check_settings(names: list[str], where: str) -> None:
    for name in names:
        check(name in SETTINGS, f"{where}: {name} is no setting")


def check_variables(text: str, where: str, others: frozenset[str] = frozenset()) -> None:
    for name in set(re.findall(r"\bCARILLON_[A-Z_]+", text)) - others:
        check(name in VARIABLES, f"{where}: no setting has the variable {name}")


def check_metrics(text: str, where: str) -> None:
    for name in set(re.findall(r"(?<![\w:])(?:carillon|process)_[a-z_]+(?![\w:])", text)):
        base = re.sub(r"_(bucket|sum|count)$", "", name)
        check(name in METRICS or base in METRICS, f"{where}: there is no metric {name}")


def topics_of_operations() -> dict[str, dict[str, str]]:
    """The settings of each topic by the table of the page Operations."""
    text = (PAGES / "Operations.md").read_text(encoding="utf-8")
    block = text.split("## Create the topics")[1].split("\n## ")[0]
    topics = {}
    for name, policy, settings in re.findall(r"^\| `([\w-]+)` \| `([\w,]+)` \| (.*)\|$", block, re.MULTILINE):
        topics[name] = {"cleanup.policy": policy} | dict(re.findall(r"`([\w.]+)=(\w+)`", settings))
    check(len(topics) == 10, f"the page Operations has {len(topics)} topics")
    return topics


def check_topics() -> None:
    expected = topics_of_operations()
    strimzi = {}
    for document in documents(MANIFESTS / "overlays/production/topics.yaml"):
        name, spec = document["metadata"]["name"].removeprefix("carillon."), document["spec"]
        config = {key: str(value) for key, value in spec["config"].items() if key != "min.insync.replicas"}
        strimzi[name] = config
        check(spec["partitions"] == 24 and spec["replicas"] == 3, f"{name}: partitions and replicas differ")
        check(document["metadata"]["labels"].get("strimzi.io/cluster"), f"{name} names no cluster")
    check(strimzi == expected, f"topics.yaml and the page Operations differ: {strimzi} {expected}")
    script = (CONTAINER / "topics.sh").read_text(encoding="utf-8")
    made = {}
    for name, policy, settings in re.findall(r"^make (\S+) '?\[?([\w,]+)\]?'?(.*)$", script, re.MULTILINE):
        made[name] = {"cleanup.policy": policy} | dict(setting.split("=") for setting in settings.split())
    check(made == expected, f"topics.sh and the page Operations differ: {made} {expected}")


def check_kustomizations() -> None:
    """Each file belongs to one kustomization, and each that is named is there."""
    used = set()
    for path in sorted(MANIFESTS.rglob("kustomization.yaml")):
        used.add(path)
        (document,) = documents(path)
        names = document.get("resources", []) + [patch["path"] for patch in document.get("patches", [])]
        names += [name for one in document.get("configMapGenerator", []) for name in one["files"]]
        for name in names:
            target = path.parent / name
            check(target.exists(), f"{path}: {name} is not there")
            used.add(target)
    for path in MANIFESTS.rglob("*.yaml"):
        check(path in used, f"no kustomization has {path}")


def workloads(objects: list[dict]) -> dict[str, dict]:
    return {one["metadata"]["name"]: one for one in objects if one["kind"] in ("Deployment", "StatefulSet")}


def check_workload(name: str, workload: dict) -> None:
    template = workload["spec"]["template"]
    labels, pod = template["metadata"]["labels"], template["spec"]
    for key, value in workload["spec"]["selector"]["matchLabels"].items():
        check(labels.get(key) == value, f"{name}: its selector does not match its pods")
    (container,) = pod["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    service = name.removeprefix("carillon-")
    check(ports["ops"] == {"producer": 8081, "consumer": 8082}[service], f"{name}: the ops port is another by default")
    for port, setting in (("http", "http.port"), ("queries", "queries.port")):
        check(str(ports.get(port, SETTINGS[setting])) == SETTINGS[setting], f"{name}: {port} is not {setting}")
    scraped = template["metadata"]["annotations"]["prometheus.io/port"]
    check(scraped == str(ports["ops"]), f"{name}: another port is scraped")
    for probe, path in (("startupProbe", "live"), ("livenessProbe", "live"), ("readinessProbe", "ready")):
        asked = container[probe]["httpGet"]
        check(asked == {"path": f"/health/{path}", "port": "ops"}, f"{name}: {probe} asks {asked}")
    security = container["securityContext"]
    check(security["readOnlyRootFilesystem"] and not security["allowPrivilegeEscalation"], f"{name}: {security}")
    check(security["capabilities"] == {"drop": ["ALL"]} and pod["securityContext"]["runAsNonRoot"], f"{name}: {security}")
    volumes = {volume["name"] for volume in pod["volumes"]}
    volumes |= {claim["metadata"]["name"] for claim in workload["spec"].get("volumeClaimTemplates", [])}
    check(volumes == {mount["name"] for mount in container["volumeMounts"]}, f"{name}: volumes and mounts differ")
    # A service that still drains must not be killed.
    pause = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    shutdown = int(SETTINGS["process.shutdown.timeout"].removesuffix("s"))
    check(pod["terminationGracePeriodSeconds"] > pause + shutdown, f"{name}: it is killed before it has drained")
    check({"requests", "limits"} <= set(container["resources"]), f"{name}: no resources")
    for variable in container["env"]:
        check_variables(variable["name"], name)


def check_kubernetes() -> None:
    check_kustomizations()
    objects = []
    for path in sorted(MANIFESTS.rglob("*.yaml")):
        if path.name in ("carillon.yaml", "rules.yaml"):
            continue
        for document in documents(path):
            kind = (document["apiVersion"], document["kind"])
            # A patch is no whole object.
            if kind not in FURTHER_KINDS and path.name != "small.yaml":
                try:
                    kubernetes_validate.validate(document, KUBERNETES, strict=True)
                except kubernetes_validate.ValidationError as error:
                    faults.append(f"{path}: {document['kind']}: {error.message} at {list(error.path)}")
            if path.is_relative_to(MANIFESTS / "base"):
                objects.append(document)
    running = workloads(objects)
    check(set(running) == {"carillon-producer", "carillon-consumer"}, f"workloads: {set(running)}")
    for name, workload in running.items():
        check_workload(name, workload)
    for one in objects:
        selector = {"Service": lambda: one["spec"]["selector"],
                    "PodDisruptionBudget": lambda: one["spec"]["selector"]["matchLabels"],
                    "NetworkPolicy": lambda: one["spec"]["podSelector"]["matchLabels"]}.get(one["kind"])
        if selector is None:
            continue
        where = f"{one['kind']} {one['metadata']['name']}"
        matched = running.get(selector().get(NAME, ""))
        check(matched and one["metadata"]["name"] == selector()[NAME], f"{where} selects no pods")
        if matched is None:
            continue
        (container,) = matched["spec"]["template"]["spec"]["containers"]
        named = {port["name"] for port in container["ports"]}
        used = {port["targetPort"] for port in one["spec"].get("ports", [])}
        used |= {port["port"] for rule in one["spec"].get("ingress", []) for port in rule["ports"]}
        check(used <= named, f"{where} names ports that the pods do not have: {used - named}")
        if one["kind"] == "NetworkPolicy":
            check(used == named, f"{where} does not open {named - used}")
    (settings,) = documents(MANIFESTS / "base/carillon.yaml")
    check_settings(keys(settings), "base/carillon.yaml")
    for document in documents(MANIFESTS / "overlays/production/scaling.yaml"):
        check(document["spec"]["scaleTargetRef"]["name"] in running, "scaling.yaml scales nothing")
        check(document["spec"]["minReplicaCount"] > 0, "timers need an instance: never scale to 0")
        for trigger in document["spec"]["triggers"]:
            check_metrics(trigger["metadata"]["query"], "scaling.yaml")


def check_container() -> None:
    text = (CONTAINER / "Containerfile").read_text(encoding="utf-8")
    instructions = re.sub(r"\\\n(\s*#.*\n)*", " ", re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE)).splitlines()
    lines = [line.split(None, 1) for line in instructions if line.strip()]
    stages: dict[str, str] = {}
    user = {}
    stage = ""
    for word, rest in lines:
        if word == "FROM":
            image, stage = re.fullmatch(r"(\S+) AS (\S+)", rest).groups()
            check(image in stages or re.search(r":[^:/]+$", image), f"Containerfile: {image} has no tag")
            check(not image.endswith(":latest"), f"Containerfile: {image} is another one each day")
            stages[stage] = image
            user[stage] = user.get(image, "root")
        elif word == "USER":
            check(re.fullmatch(r"[1-9]\d*:[1-9]\d*", rest), f"Containerfile: USER {rest} is no number, as runAsNonRoot needs")
            user[stage] = rest
        elif word == "COPY" and "--from=" not in rest:
            check(stage == "build", f"Containerfile: {stage} copies from the context")
        elif word in ("ENTRYPOINT", "CMD"):
            check(rest.startswith("["), f"Containerfile: a shell would get the signals of {word} {rest}")
        elif word == "RUN" and "apt-get install" in rest:
            check("--no-install-recommends" in rest and "rm -rf /var/lib/apt/lists" in rest, "Containerfile: apt leaves files")
        else:
            check(word in ("ADD",) or word.isupper(), f"Containerfile: {word}")
        check(word != "ADD", "Containerfile: COPY does what ADD would")
    for service in ("producer", "consumer"):
        part = text.split(f" AS {service}\n")[1].split("\nFROM ")[0]
        check(user.get(service) == "10001:10001", f"Containerfile: {service} runs as {user.get(service)}")
        check(f'HEALTHCHECK --interval' in part and f'"/usr/bin/carillon-{service}", "--check-health", "ready"' in part, f"{service}: no check")
        check(f'ENTRYPOINT ["/usr/bin/carillon-{service}"]' in part, f"{service}: entry point")


def check_compose() -> None:
    path = CONTAINER / "compose.yaml"
    text = path.read_text(encoding="utf-8")
    compose = yaml.safe_load(text)
    check_variables(text, "compose.yaml", frozenset({"CARILLON_TOKEN"}))
    targets = set(re.findall(r" AS (\w+)$", (CONTAINER / "Containerfile").read_text(encoding="utf-8"), re.MULTILINE))
    for name, service in compose["services"].items():
        check(re.search(r":[\w.-]*\d", service["image"]), f"compose.yaml: {service['image']} has no version")
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            known = (CONTAINER / source).exists() if source.startswith(".") else source in compose["volumes"]
            check(known, f"compose.yaml: {name} mounts {source}, which is not there")
        for port in service.get("ports", []):
            check(port.startswith("127.0.0.1:"), f"compose.yaml: {name} is open to the network at {port}")
        for other in service.get("depends_on", {}):
            check(other in compose["services"], f"compose.yaml: {name} depends on {other}")
        if "build" in service:
            check(service["build"]["target"] in targets, f"compose.yaml: no stage {service['build']['target']}")
            check((CONTAINER / service["build"]["context"]).resolve() == Path.cwd(), "compose.yaml: context")
            check(service["read_only"] and service["cap_drop"] == ["ALL"], f"compose.yaml: {name} may do too much")
    scrape = yaml.safe_load((CONTAINER / "scrape.yaml").read_text(encoding="utf-8"))
    alerts = Path("deploy/prometheus/alerts.yaml").read_text(encoding="utf-8")
    for job in scrape["scrape_configs"]:
        host, port = job["static_configs"][0]["targets"][0].split(":")
        check(host in compose["services"] and port in ("8081", "8082"), f"scrape.yaml: {host}:{port}")
        check(re.fullmatch("carillon-.*", job["job_name"]) and 'job=~"carillon-.*"' in alerts, "jobs and alerts differ")
        check(compose["services"][host]["environment"].get("CARILLON_OPS_HOSTS") == host, f"{host} would answer 403")
    for file in scrape["rule_files"]:
        check(f"/etc/prometheus/carillon/{file}:ro" in text, f"scrape.yaml: {file} is not mounted")


def check_units() -> None:
    for path in sorted(Path("deploy/packaging").glob("*.service")):
        text = path.read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if re.match(r"\w+=", line)]
        doubled = {line for line in lines if lines.count(line) > 1}
        check(not doubled, f"{path}: {doubled}")
        stop = int(re.search(r"^TimeoutStopSec=(\d+)$", text, re.MULTILINE).group(1))
        check(stop > int(SETTINGS["process.shutdown.timeout"].removesuffix("s")), f"{path}: it is killed before it has drained")
    check_variables(Path("deploy/packaging/environment").read_text(encoding="utf-8"), "environment")


for part in (check_topics, check_kubernetes, check_container, check_compose, check_units):
    part()
for path in sorted(Path("deploy").rglob("*.yaml")) + [Path(".spi.yml")]:
    documents(path)
for fault in faults:
    print(fault, file=sys.stderr)
print(f"{len(SETTINGS)} settings, {len(METRICS)} metrics; {len(faults)} faults")
sys.exit(1 if faults else 0)
