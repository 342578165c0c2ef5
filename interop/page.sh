#!/usr/bin/env bash
# Writes docs/interop.md from the results of run.sh, mutants.sh and clients.sh, and fails if it has changed.
#
#   interop/page.sh
#
# Where a language is not installed, its results are not there: the page stays as it is, and the output says so.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/../out/interop}
agentconform=${AGENTCONFORM:-$here/../bin/agentconform}
. "$here/languages.sh"
for language in python javascript; do
  why=$(missing "$language")
  [ -z "$why" ] || { echo "interop: docs/interop.md is not compared: $why"; exit 0; }
done
cd "$here/.."

"$agentconform" run --out "$out/reference" --quiet --seed 1

# The independent server ends with its standard input.
rm -f "$out/independent.yaml"
coproc independent { go run ./interop/independent/serve "$out/independent.yaml"; }
serving=$independent_PID
read -r _ <&"${independent[0]}"
"$agentconform" run --config "$out/independent.yaml" --out "$out/independent" --quiet --seed 1
exec {independent[1]}>&-
wait "$serving"

cp docs/interop.md "$out/before.md"
go run ./interop/page "$out" docs/interop.md
diff -u "$out/before.md" docs/interop.md || { echo "interop: docs/interop.md was outdated and is updated: review the difference and commit it" >&2; exit 1; }
echo "interop: docs/interop.md is up to date"
