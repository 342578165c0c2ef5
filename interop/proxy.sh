#!/usr/bin/env bash
# Puts faults of the catalogue before the Python server that others wrote (agentconform serve --proxy): each must fail its requirement
# there too, as before the reference.
#
#   interop/proxy.sh [NAME...]      default: ten faults of agent servers
#
# It prints one line for each, and exits with 1 if a requirement does not fail. It is skipped where Python is not installed. The reports
# are in OUT (default out/interop/proxy); AGENTCONFORM is the binary (default bin/agentconform). SEED: the order of the scenarios.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/../out/interop/proxy}
agentconform=${AGENTCONFORM:-$here/../bin/agentconform}
. "$here/languages.sh"

why=$(missing python)
[ -z "$why" ] || { echo "interop: faults before a server skipped: $why"; exit 0; }
[ -x "$agentconform" ] || { echo "interop: $agentconform does not exist: run make build" >&2; exit 2; }
[ $# -gt 0 ] || set -- empty-token-is-accepted refusal-has-no-detail foreign-run-is-retrieved foreign-run-is-started \
  second-users-threads-are-read run-is-found-under-any-thread run-of-unknown-thread-is-found join-does-not-wait \
  messages-come-newest-first texts-are-normalised
mkdir -p "$out"
stop_at_end
install python "$out/install.log" || exit 1
start python "$out/server.log" || exit 1
status=0
for name; do
  log=$out/$name.log began=$SECONDS
  fails=$("$agentconform" prove --list | awk -v name="$name" '$1 == "fault" && $2 == name { print $3 }')
  [ -n "$fails" ] || { echo "FAIL there is no fault $name" && status=1 && continue; }
  rm -rf "${out:?}/$name"
  "$agentconform" serve --proxy "$url" --fault "$name" >"$out/$name.address" 2>"$log" &
  watch=$! # ended with all else
  for _ in $(seq 100); do
    [ -s "$out/$name.address" ] && break
    sleep 0.1
  done
  address=$(sed -n 's/.*agent-server=//p' "$out/$name.address")
  wait_for "$agentconform" run --config "$here/agentconform.yaml" --agent-target "$address" --explore 0 --baseline "$here/python/baseline.yaml" \
    --out "$out/$name" --quiet --seed "${SEED:-1}" >>"$log" 2>&1
  said=$(python3 -c 'import json, sys
print(*(q["id"] for q in json.load(open(sys.argv[1]))["requirements"] if q["verdict"] == "failed"))' "$out/$name/result.json")
  kill -- "-$watch" 2>/dev/null
  wait "$watch" 2>/dev/null
  watch=
  case " $said " in
  *" $fails "*) printf 'ok   %3d s  %s: %s\n' $((SECONDS - began)) "$name" "$said" ;;
  *) printf 'FAIL %3d s  %s: %s should fail, failed: %s\n' $((SECONDS - began)) "$name" "$fails" "${said:-nothing}" && status=1 ;;
  esac
done
exit $status
