#!/usr/bin/env bash
# Tests two servers that others wrote against their reviewed baselines (python/baseline.yaml, javascript/baseline.yaml):
#
#   interop/run.sh [python|javascript]...      default: both
#
# It exits with 1 if a server has a failure that is not in its baseline, or no longer has one that is. A server whose
# language is not installed is skipped, and the output says so. The reports are in OUT (default out/interop);
# AGENTCONFORM is the binary (default bin/agentconform). ARGS: more flags of run.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/../out/interop}
agentconform=${AGENTCONFORM:-$here/../bin/agentconform}
server= job=
. "$here/languages.sh"

# Whatever is started is a process group of its own (set -m) and is ended whatever happens, the test before the server.
set -m
stop() {
  local group
  for group in $job $server; do
    kill -- "-$group" 2>/dev/null && wait "$group" 2>/dev/null
  done
  server= job=
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# wait_for runs a command; a signal to this script ends it at once.
wait_for() {
  local rc
  "$@" &
  job=$!
  wait "$job"
  rc=$?
  job=
  return "$rc"
}

# free_port prints a port that is free now, as the language of the server sees it.
free_port() {
  case $1 in
  python)
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])' ;;
  javascript)
    node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => {
      console.log(s.address().port); s.close() })' ;;
  esac
}

# run tests one server; its status is that of agentconform, and 0 if it was skipped.
run() {
  local language=$1 log=$out/$1.log port why rc
  why=$(missing "$language")
  if [ -n "$why" ]; then
    echo "interop: $language skipped: $why"
    return 0
  fi
  if ! wait_for "$here/serve.sh" "$language" install >"$log" 2>&1; then
    tail -n 5 "$log"
    echo "interop: $language: the packages could not be installed, see $log"
    return 1
  fi
  port=$(free_port "$language")
  "$here/serve.sh" "$language" "$port" >>"$log" 2>&1 &
  server=$!
  for _ in $(seq 300); do
    curl -s -o "$out/$language.ok" "http://127.0.0.1:$port/ok" && break
    if ! kill -0 "$server" 2>/dev/null; then
      tail -n 20 "$log"
      echo "interop: $language: the server ended before it answered, see $log"
      server=
      return 1
    fi
    sleep 0.2
  done
  echo "interop: $language: run against http://127.0.0.1:$port"
  wait_for "$agentconform" run --config "$here/agentconform.yaml" --agent-target "http://127.0.0.1:$port" \
    --baseline "$here/$language/baseline.yaml" --out "$out/$language" --quiet ${ARGS:-}
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
