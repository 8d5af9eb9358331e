# shellcheck shell=bash
# What the scripts here share. Sourced, not run.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

say() {
  printf '\n==> %s\n' "$*"
}

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Installs Debian packages, only those that are missing.
install_packages() {
  local missing=()
  local package
  for package in "$@"; do
    if ! dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed'; then
      missing+=("$package")
    fi
  done
  if [ ${#missing[@]} -eq 0 ]; then
    return 0
  fi
  command -v apt-get >/dev/null || fail "these packages are missing, and there is no apt-get to install them: ${missing[*]}"
  say "Installing ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "run as root, or install first: ${missing[*]}"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --quiet --no-install-recommends "${missing[@]}"
}

# The Python of the tests in .build/python: clients from another hand, generators of clients, and validators with the official schemas.
make_python() {
  local packages=(aioapns==4.0 check-jsonschema==0.39.0 cloudevents==1.12.1 confluent-kafka==2.12.2 deno==2.9.8
    firebase-admin==7.7.0 google-api-python-client==2.202.0 http_ece==1.2.1 "httpx[http2]==0.28.1" jsonschema==4.26.0
    kubernetes-validate==1.37.0 openapi-generator-cli==7.26.0 openapi-python-client==0.29.1 openapi-spec-validator==0.9.0
    opentelemetry-proto==1.45.2 py-vapid==1.9.6 "pyjwt[crypto]==2.10.1" python-dateutil==2.9.0.post0
    pywebpush==2.5.0 pyyaml==6.0.4 schemathesis==4.32.5 websockets==17.4)
  local venv=.build/python
  local stamp="$venv/packages"
  if [ "$(cat "$stamp" 2>/dev/null)" != "${packages[*]}" ]; then
    say "Installing ${packages[*]} into $venv"
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}"
    printf '%s\n' "${packages[*]}" >"$stamp"
  fi
}

require_swift() {
  command -v swift >/dev/null ||
    fail "no Swift toolchain found; install one from https://www.swift.org/install (6.2 or later) and put it on PATH"
}

# See Package.swift; every script builds alike.
export LINK_JEMALLOC=1 OPTIMIZE_SIMULATION=1

# The first build compiles the dependencies too and takes some minutes.
build() {
  say "Building: swift build $*"
  swift build "$@"
}
