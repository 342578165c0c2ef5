#!/usr/bin/env bash
# Tests two servers that others wrote against their reviewed baselines (python/baseline.yaml, javascript/baseline.yaml):
#
#   interop/run.sh [python|javascript]...      default: both
#
# It exits with 1 if a server has a failure that is not in its baseline, or no longer has one that is. A server whose
# language is not installed is skipped, and the output says so. The reports are in OUT (default out/interop);
# AGENTCONFORM is the binary (default bin/agentconform). SEED: the order of the scenarios (default 1).
# ARGS: more flags of run.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/../out/interop}
agentconform=${AGENTCONFORM:-$here/../bin/agentconform}
. "$here/languages.sh"

stop_at_end

# run tests one server; its status is that of agentconform, and 0 if it was skipped.
run() {
  local language=$1 log=$out/$1.log why rc
  why=$(missing "$language")
  if [ -n "$why" ]; then
    echo "interop: $language skipped: $why"
    return 0
  fi
  rm -rf "${out:?}/$language"
  install "$language" "$log" || return 1
  start "$language" "$log" || return 1
  echo "interop: $language: run against $url"
  wait_for "$agentconform" run --config "$here/agentconform.yaml" --agent-target "$url" --explore 0 \
    --baseline "$here/$language/baseline.yaml" --out "$out/$language" --quiet --seed "${SEED:-1}" ${ARGS:-}
  rc=$?
  stop
  [ "$rc" = 0 ] || echo "interop: $language: exit code $rc, see $out/$language/summary.md"
  return "$rc"
}

command -v curl >/dev/null || { echo "interop: skipped: curl is not installed"; exit 0; }
[ -x "$agentconform" ] || { echo "interop: $agentconform does not exist: run make build" >&2; exit 2; }
mkdir -p "$out"
status=0
for language in "${@:-python javascript}"; do
  for l in $language; do run "$l" || status=1; done
done
exit $status
