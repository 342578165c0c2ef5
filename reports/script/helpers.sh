set -eu
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$dir"' EXIT
run="$(date +%s)-$$" # makes the names of created objects unique

# need VARIABLE: ends the script if the variable is not set
need() {
  [ -z "${!1-}" ] || return 0
  printf '%s is not set. This command sets it to its value in the configuration:\n  %s -- bash %s\n' "$1" "$exec" "$0" >&2
  exit 2
}

# send ID ARGUMENTS: sends the request of an exchange and stores the response
send() {
  local id=$1
  shift
  curl -sS -g --path-as-is -D "$dir/$id.head" -o "$dir/$id.body" -w '%{http_code}' "$@" >"$dir/$id.status" || true
  touch "$dir/$id.head" "$dir/$id.body"
  printf 'exchange %s: status %s\n' "$id" "$(cat "$dir/$id.status")" >&2
}

# value ID KEY N: prints the N-th string or number with the key in a response
value() {
  grep -aoE "\"$2\"[[:space:]]*:[[:space:]]*(\"[^\"\\\\]*\"|-?[0-9]+)" "$dir/$1.body" |
    sed "s/^\"$2\"[[:space:]]*:[[:space:]]*\"\{0,1\}\([^\"]*\)\"\{0,1\}\$/\1/" | sed -n "$3p" || true
}

# take NAME ID KEY N: sets a variable to a value of a response
take() {
  printf -v "$1" '%s' "$(value "$2" "$3" "$4")"
  [ -n "${!1}" ] || { echo "the response of exchange $2 has no $3: the next request cannot be sent" >&2; show "$2"; exit 1; }
}

# again SECONDS ID STATUS PATTERN KEY:N... -- ARGUMENTS: sends a request until the response has the status, a line that
# matches the pattern, and for each KEY:N a value that no other response has; or until the time is over
again() {
  local end=$((SECONDS + $1)) id=$2 status=$3 pattern=$4 new=("")
  shift 4
  while [ "$1" != -- ]; do
    new+=("$1")
    shift
  done
  shift
  while
    send "$id" "$@"
    ! matches "$id" "$status" "$pattern" "${new[@]:1}" && [ "$SECONDS" -lt "$end" ]
  do sleep 0.2; done
}

# matches ID STATUS PATTERN KEY:N...: checks the response of an exchange for again
matches() {
  local id=$1 status=$2 pattern=$3 each is
  shift 3
  [ "$(cat "$dir/$id.status")" = "$status" ] || return 1
  [ -z "$pattern" ] || grep -aqE -- "$pattern" "$dir/$id.body" || return 1
  for each in "$@"; do
    is=$(value "$id" "${each%:*}" "${each#*:}")
    [ -n "$is" ] && ! grep -rqaF --include='*.body' --exclude="$id.body" -- "\"$is\"" "$dir" || return 1
  done
}

# json TEXT: prints the text escaped for a JSON string
json() {
  local s=${1//\\/\\\\}
  s=${s//\"/\\\"}
  s=${s//$'\n'/\\n}
  printf '%s' "${s//$'\t'/\\t}"
}

# show ID: prints the response of an exchange
show() {
  cat "$dir/$1.head" "$dir/$1.body"
  echo
}
