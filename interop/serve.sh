#!/usr/bin/env bash
# Serves the conformance graph with a LangGraph server on 127.0.0.1, in the foreground, until it gets SIGTERM:
#
#   interop/serve.sh python PORT [WORKERS [VARIANT]]      VARIANT: see python/variants.py; "blocking-allowed" too
#   interop/serve.sh javascript PORT [WORKERS]         CONFORMANCE_MEND, CONFORMANCE_MUTANT: see javascript/server.mjs
#
# Packages are installed once, in the exact versions of requirements.txt and package.json, into INTEROP_CACHE (default
# interop/.cache). "interop/serve.sh python install" only installs. The server itself needs no account and no network.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
language=$1 port=$2 workers=${3:-10} variant=${4:-}
cache=${INTEROP_CACHE:-$here/.cache}/$language
. "$here/languages.sh"
mkdir -p "$cache"

# The installation is made in a new folder if the list of packages has changed, and is complete when the list is there.
case $language in
python)
  if ! installed python; then
    rm -rf "$cache/venv" "$cache/requirements.txt"
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$here/python/requirements.txt" >&2
    cp "$here/python/requirements.txt" "$cache/"
  fi ;;
javascript)
  if ! installed javascript; then
    rm -rf "$cache/node_modules" "$cache/installed.json"
    cp "$here/javascript/package.json" "$cache/"
    (cd "$cache" && npm install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel error >&2)
    cp "$here/javascript/package.json" "$cache/installed.json"
  fi ;;
*) echo "unknown language: $language" >&2; exit 2 ;;
esac
[ "$port" != install ] || exit 0

# The servers write their data into the working folder: each start has its own, and nothing of an earlier one.
work=$(mktemp -d "$cache/run.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp "$here/$language"/* "$work/"
cd "$work"

export LANGSMITH_TRACING=false LANGGRAPH_CLI_NO_ANALYTICS=1 DO_NOT_TRACK=1
export CONFORMANCE_USERS=${CONFORMANCE_USERS:-'[
  {"name": "alice", "token": "alice-token", "identity": "alice", "role": "admin", "team": "north"},
  {"name": "bob", "token": "bob-token", "identity": "bob", "role": "user"},
  {"name": "alice of the south", "token": "south-token", "identity": "alice", "role": "user", "team": "south"},
  {"name": "eve", "token": "eve-token", "identity": "eve", "role": "user", "blocked": true}]'}

if [ "$language" = python ]; then
  flags=(--no-browser --no-reload --host 127.0.0.1 --port "$port" --n-jobs-per-worker "$workers")
  if [ "$variant" = blocking-allowed ]; then
    flags+=(--allow-blocking) variant=blocking
  fi
  if [ -n "$variant" ]; then
    export CONFORMANCE_VARIANT=$variant
    sed -i.bak 's/graph.py/variants.py/' langgraph.json
  fi
  "$cache/venv/bin/langgraph" dev "${flags[@]}" &
else
  node server.mjs "$port" "$workers" &
fi
server=$!

# The server gets 5 s to stop: it would wait up to 3 minutes for runs in progress.
stop() {
  trap - TERM INT
  kill "$server" 2>/dev/null || true
  for _ in $(seq 50); do kill -0 "$server" 2>/dev/null || break; sleep 0.1; done
  kill -9 "$server" 2>/dev/null || true
  exit 0
}
trap stop TERM INT
wait "$server"
