#!/usr/bin/env bash
# Compares the results of run.sh and mutants.sh with the independent server and the bundled reference: the page compare.html in OUT, and the table in docs/interop.md.
#
#   interop/table.sh              fails if the table in docs/interop.md differs from the results
#   interop/table.sh --update     writes it
#
# It is skipped if a result is missing. The results are in OUT (default out/interop); AGENTCONFORM is the binary (default
# bin/agentconform).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$(realpath -m "${OUT:-$here/../out/interop}")
agentconform=${AGENTCONFORM:-$here/../bin/agentconform}
page=$here/../docs/interop.md

for result in python javascript mutants/mended; do
  [ -f "$out/$result/result.json" ] || { echo "interop: comparison skipped: there is no result of $result"; exit 0; }
done
"$agentconform" run --seed "${SEED:-1}" --explore 0 --quiet --out "$out/reference"
coproc SERVER { cd "$here/.." && exec go run ./interop/independent/serve "$out/independent.yaml"; } # until its input ends
read -r _ <&"${SERVER[0]}"
"$agentconform" run --config "$out/independent.yaml" --seed "${SEED:-1}" --explore 0 --quiet --out "$out/independent"
exec {SERVER[1]}>&-
"$agentconform" compare "$out"/{python,javascript,mutants/mended,independent,reference}/result.json \
  --label Python --label JavaScript --label 'JavaScript, mended' --label independent --label reference \
  --html "$out/compare.html" --out "$out" >/dev/null || [ $? = 1 ] # a difference between servers

# table prints the capabilities of agent servers, with the names of the servers in place of letters.
table() {
  echo '| capability | Python | JavaScript | JavaScript, mended | independent | reference |'
  echo '| --- | --- | --- | --- | --- | --- |'
  awk -F '|' '/^### / { listed = /Capabilities/ } listed && /^\| [a-z]/ && $3 !~ /^ *$/' "$out/compare.md"
}
begin='<!-- interop/table.sh --update writes this table -->'
end='<!-- end of the table -->'
updated=$(awk -v begin="$begin" -v end="$end" -v table="$(table)" '
  $0 == end { print table; inside = 0 }
  !inside { print }
  $0 == begin { inside = 1 }' "$page")
if [ "${1:-}" = --update ]; then
  echo "$updated" >"$page"
elif ! diff <(echo "$updated") "$page"; then
  echo "interop: the table in docs/interop.md differs from the results: review them, then interop/table.sh --update"
  exit 1
fi
echo "interop: comparison of the servers: $out/compare.html"
