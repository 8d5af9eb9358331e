#!/usr/bin/env bash
# Makes Carillon's topics on a cluster of one broker, within its image: topics.sh BOOTSTRAP. What is there already stays as it is.
set -euo pipefail

make() {
  local name="$1" policy="$2" settings=()
  shift 2
  for setting in "cleanup.policy=$policy" "$@"; do settings+=(--config "$setting"); done
  /opt/kafka/bin/kafka-topics.sh --bootstrap-server "$bootstrap" --create --if-not-exists --topic "carillon.$name" \
    --partitions 8 --replication-factor 1 "${settings[@]}"
}

bootstrap="$1"
make requests '[compact,delete]' retention.ms=604800000 min.compaction.lag.ms=604800000
make signals delete retention.ms=604800000
make devices compact delete.retention.ms=604800000
make tokens compact
make categories compact
make state compact segment.ms=3600000 delete.retention.ms=86400000
make deliveries delete
make responses delete
make business-events delete
make dead-letters delete
