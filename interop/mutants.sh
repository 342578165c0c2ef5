#!/usr/bin/env bash
# Tests the mended JavaScript server (javascript/mended.mjs), which must be conformant, and its mutants
# (javascript/mutants.mjs), which must fail exactly the requirements that are written there:
#
#   interop/mutants.sh [NAME...]      default: mended, then all mutants
#
# It prints one line for each, and exits with 1 on any difference. It is skipped where Node.js is not installed. The reports
# are in OUT (default out/interop/mutants); AGENTCONFORM is the binary (default bin/agentconform). ARGS: more flags of run. JOBS:
# servers that are tested at the same time (default 2). SEED: the order of the scenarios (default 1).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/../out/interop/mutants}
agentconform=${AGENTCONFORM:-$here/../bin/agentconform}
. "$here/languages.sh"

judge() { node "$here/javascript/judge.mjs" "$@"; }

# run tests the mended server or one mutant: the exit code of agentconform and the verdict of each requirement.
run() {
  local name=$1 log=$out/$1.log began=$SECONDS code expected=1 said
  if [ "$name" = mended ]; then
    export CONFORMANCE_MEND=1 expected=0
  else
    export CONFORMANCE_MUTANT=$name
  fi
  rm -rf "${out:?}/$name"
  : >"$log"
  # With more workers than usual, runs are taken from the queue sooner.
  start javascript "$log" 40 || return 1
  wait_for "$agentconform" run --config "$here/agentconform.yaml" --agent-target "$url" --explore 0 --out "$out/$name" --quiet --seed "${SEED:-1}" ${ARGS:-} >>"$log" 2>&1
  code=$?
  stop
  if ! said=$(judge "$name" "$out/$name/result.json" 2>>"$log"); then
    printf 'FAIL %3d s  %s: %s\n' $((SECONDS - began)) "$name" "${said:-no result, see $log}"
    return 1
  fi
  if [ "$code" != "$expected" ]; then
    printf 'FAIL %3d s  %s: exit code %d, see %s\n' $((SECONDS - began)) "$name" "$code" "$log"
    return 1
  fi
  printf 'ok   %3d s  %s: %s\n' $((SECONDS - began)) "$name" "$said"
}

why=$(missing javascript)
[ -z "$why" ] || { echo "interop: mutants skipped: $why"; exit 0; }
command -v curl >/dev/null || { echo "interop: mutants skipped: curl is not installed"; exit 0; }
[ -x "$agentconform" ] || { echo "interop: $agentconform does not exist: run make build" >&2; exit 2; }
mapfile -t known < <(echo mended; judge list)
[ $# -gt 0 ] || set -- "${known[@]}"
for name; do
  printf '%s\n' "${known[@]}" | grep -qxF -e "$name" || { echo "interop: no mutant $name; there are: ${known[*]}" >&2; exit 2; }
done
mkdir -p "$out"
stop_at_end
install javascript "$out/install.log" || exit 1

# Each test is a process of its own, which stops its server when it ends.
rm -f "$out/differing"
status=0 running=0
for name; do
  if [ "$running" -ge "${JOBS:-2}" ]; then
    wait -n || status=1
    running=$((running - 1))
  fi
  (server= job= && stop_at_end && run "$name" || { echo "$name" >>"$out/differing"; exit 1; }) &
  job="$job $!" running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
  wait -n || status=1
  running=$((running - 1))
done
job=
# A busy machine may be the reason: what differs is tried once more, alone, and the output says so.
if [ "$status" != 0 ] && [ -z "${SECOND_ATTEMPT:-}" ]; then
  mapfile -t again <"$out/differing"
  echo "interop: second attempt, one at a time: ${again[*]}"
  SECOND_ATTEMPT=1 JOBS=1 exec "$0" "${again[@]}"
fi
[ "$status" = 0 ] || echo "interop: a mutant, or the mended server, differs from javascript/mutants.mjs"
exit $status
