#!/usr/bin/env bash
# Tests the bundled reference with the unmodified LangGraph clients for Python and JavaScript:
#
#   interop/clients.sh [python|javascript]...      default: both
#
# The calls pass a proxy that records them, and agentconform judge must find no violation in the recording.
#
# The clients are those that serve.sh installs, in the exact versions of python/requirements.txt and
# javascript/package.json. The tests are in clients/. A language that is not installed is skipped, and the output says so. OUT
# (default out/interop/clients) gets the logs; AGENTCONFORM is the binary (default bin/agentconform). LIMIT: seconds after which the
# tests of a language are ended (default 300; they take about two).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/../out/interop/clients}
cache=${INTEROP_CACHE:-$here/.cache}
agentconform=${AGENTCONFORM:-$here/../bin/agentconform}
limit=${LIMIT:-300}
. "$here/languages.sh"

[ -x "$agentconform" ] || { echo "interop: $agentconform does not exist: run make build" >&2; exit 2; }
mkdir -p "$out"
work=
stop_at_end
proxy=
stop_proxy() {
  [ -z "$proxy" ] || { kill "$proxy" 2>/dev/null && wait "$proxy" 2>/dev/null; }
  proxy=
}
trap 'stop_proxy; stop; [ -z "$work" ] || rm -rf "$work"' EXIT

# address_of prints the address of the agent server that a command has written to the file when it was ready.
address_of() {
  for _ in $(seq 100); do grep -q '^ready ' "$1" && break; sleep 0.1; done
  sed -n 's/^ready .*agent-server=//p' "$1"
}

rm -f "$out/reference.yaml" "$out/ready" "$out/proxy"
"$agentconform" serve --write-config "$out/reference.yaml" >"$out/ready" 2>"$out/reference.log" &
server=$!
url=$(address_of "$out/ready")
[ -n "$url" ] || { tail -n 5 "$out/reference.log"; echo "interop: the reference did not start"; exit 1; }
mapfile -t tokens < <(sed -n 's/^    token: //p' "$out/reference.yaml")
export AGENT_TOKEN=${tokens[0]} OTHER_TOKEN=${tokens[1]}

# record starts the proxy. judge_recording stops it and judges what has passed it: no MUST may be violated (exit code 0).
record() {
  "$agentconform" serve --proxy "$url" --config "$out/reference.yaml" --record "$out/$1.har" >"$out/proxy" 2>"$out/proxy.log" &
  proxy=$!
  AGENT_URL=$(address_of "$out/proxy")
  export AGENT_URL
  [ -n "$AGENT_URL" ] || { tail -n 5 "$out/proxy.log"; echo "interop: the proxy did not start"; return 1; }
}
judge_recording() {
  stop_proxy
  "$agentconform" judge "$out/$1.har" --config "$out/reference.yaml" --out "$out/judged-$1" >"$out/judged-$1.log" 2>&1
}

# test_python and test_javascript run the tests of a language in a folder of their own, where its packages are found.
test_python() { (cd "$work" && "$cache/python/venv/bin/python" -m unittest discover -p 'test_*.py'); }
test_javascript() { (cd "$work" && node --test --test-reporter spec ./*.test.mjs); }

status=0
for language in ${@:-python javascript}; do
  why=$(missing "$language")
  if [ -n "$why" ]; then
    echo "interop: $language client skipped: $why"
    continue
  fi
  log=$out/$language.log
  install "$language" "$log" || { status=1; continue; }
  work=$(mktemp -d "$cache/$language/clients.XXXXXX")
  cp "$here/clients/$language"/* "$work/"
  record "$language" || { status=1; continue; }
  within "$limit" "test_$language" >>"$log" 2>&1
  rc=$?
  if judge_recording "$language"; then
    echo "interop: $language client: $(sed -n 's/.*this is a recording: //p' "$out/judged-$language.log"), no MUST violated"
  else
    tail -n 20 "$out/judged-$language.log"
    echo "interop: $language client: the recording violates the interface, or could not be judged"
    status=1
  fi
  if [ "$rc" = 0 ]; then
    echo "interop: $language client: all calls as expected"
  else
    tail -n 60 "$log"
    why="a test failed"
    [ "$rc" != 124 ] || why="the tests did not end within $limit s (LIMIT)"
    echo "interop: $language client: $why, see $log"
    status=1
  fi
  rm -rf "$work"
  work=
done
exit $status
