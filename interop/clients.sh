#!/usr/bin/env bash
# Tests the bundled reference with the unmodified LangGraph clients for Python and JavaScript:
#
#   interop/clients.sh [python|javascript]...      default: both
#
# The clients are those that serve.sh installs, in the exact versions of python/requirements.txt and
# javascript/package.json. The tests are in clients/; each one notes the call that it makes and its result as a line of
# JSON in OUT/LANGUAGE.calls.jsonl. A language that is not installed is skipped, and the output says so. OUT (default
# out/interop/clients) gets the logs; AGENTCONFORM is the binary (default bin/agentconform).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/../out/interop/clients}
cache=${INTEROP_CACHE:-$here/.cache}
agentconform=${AGENTCONFORM:-$here/../bin/agentconform}
. "$here/languages.sh"

[ -x "$agentconform" ] || { echo "interop: $agentconform does not exist: run make build" >&2; exit 2; }
mkdir -p "$out"
server= work=
stop() {
  [ -z "$server" ] || { kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
  [ -z "$work" ] || rm -rf "$work"
}
trap stop EXIT

rm -f "$out/reference.yaml" "$out/ready"
"$agentconform" serve --write-config "$out/reference.yaml" >"$out/ready" 2>"$out/reference.log" &
server=$!
for _ in $(seq 100); do grep -q '^ready ' "$out/ready" && break; sleep 0.1; done
url=$(sed -n 's/^ready .*agent-server=//p' "$out/ready")
[ -n "$url" ] || { tail -n 5 "$out/reference.log"; echo "interop: the reference did not start"; exit 1; }
mapfile -t tokens < <(sed -n 's/^    token: //p' "$out/reference.yaml")
export AGENT_URL=$url AGENT_TOKEN=${tokens[0]} STRANGER_TOKEN=${tokens[1]}

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
  if ! "$here/serve.sh" "$language" install >"$log" 2>&1; then
    tail -n 5 "$log"
    echo "interop: $language: the packages could not be installed, see $log"
    status=1
    continue
  fi
  work=$(mktemp -d "$cache/$language/clients.XXXXXX")
  cp "$here/clients/$language"/* "$work/"
  rm -f "$out/$language.calls.jsonl"
  if CALLS="$out/$language.calls.jsonl" "test_$language" >>"$log" 2>&1 && [ -s "$out/$language.calls.jsonl" ]; then
    echo "interop: $language client: $(wc -l <"$out/$language.calls.jsonl") calls as expected"
  else
    tail -n 60 "$log"
    echo "interop: $language client: a test failed, see $log"
    status=1
  fi
  rm -rf "$work"
  work=
done
exit $status
