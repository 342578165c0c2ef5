set -eu
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$dir"' EXIT
run="$(date +%s)-$$" # new names for what is created

# need VARIABLE KEY: notes a variable that is not set, and the key of the configuration that has its value
missing=
need() { [ -n "${!1-}" ] || missing+="  export $1='...'  # $2"$'\n'; }

# needed COMMAND: ends the script where a variable is not set, and says which command sets them all
needed() {
  [ -n "$missing" ] || return 0
  printf 'Secrets are not set. This command sets them to the values in the configuration:\n  %s -- bash %s\n' "$1" "$0" >&2
  printf 'Or set them yourself, each to the value of the key beside it:\n%s' "$missing" >&2
  exit 2
}

# send ID ARGUMENTS: sends the request of an exchange, and keeps the answer
send() {
  local id=$1
  shift
  curl -sS -g --path-as-is -D "$dir/$id.head" -o "$dir/$id.body" -w '%{http_code}' "$@" >"$dir/$id.status" || true
  [ -e "$dir/$id.head" ] || : >"$dir/$id.head"
  [ -e "$dir/$id.body" ] || : >"$dir/$id.body"
  printf 'exchange %s: status %s\n' "$id" "$(cat "$dir/$id.status")" >&2
}

# values ID KEY: the texts and numbers under the key in an answer
values() {
  grep -aoE "\"$2\"[[:space:]]*:[[:space:]]*(\"[^\"\\\\]*\"|-?[0-9]+)" "$dir/$1.body" |
    sed "s/^\"$2\"[[:space:]]*:[[:space:]]*\"\{0,1\}\([^\"]*\)\"\{0,1\}\$/\1/" || true
}

# take NAME ID KEY N: puts the N-th value under the key in an answer into a variable
take() {
  printf -v "$1" '%s' "$(values "$2" "$3" | sed -n "$4p")"
  [ -n "${!1}" ] || { echo "the answer to exchange $2 has no $3: the next request cannot be sent" >&2; show "$2"; exit 1; }
}

# like ID CONDITION...: whether the answer is as it was recorded
like() {
  local id=$1 condition kind key n want
  shift
  for condition in "$@"; do
    IFS=: read -r kind key n want <<<"$condition" || true
    case $kind in
      status) [ "$(cat "$dir/$id.status")" = "$key" ] || return 1 ;;
      settled) case $(values "$id" status | sed -n 1p) in DEPLOYED | SKIPPED | INTERRUPTED | UNKNOWN | *FAILED) ;; *) return 1 ;; esac ;;
      value) [ "$(values "$id" "$key" | sed -n "${n}p")" = "$want" ] || return 1 ;;
      count) [ "$(values "$id" "$key" | wc -l)" -ge "$n" ] || return 1 ;;
      new) is_new "$id" "$(values "$id" "$key" | sed -n "${n}p")" || return 1 ;;
    esac
  done
}

# is_new ID VALUE: whether no other answer has shown the value so far
is_new() {
  local body
  [ -n "$2" ] || return 1
  for body in "$dir"/*.body; do
    [ "$body" = "$dir/$1.body" ] || ! grep -aqF "\"$2\"" "$body" || return 1
  done
}

# await SECONDS ID CONDITION... -- ARGUMENTS: sends the request again until the answer is as it was recorded, or the time is over
await() {
  local end=$((SECONDS + $1)) id=$2 conditions=()
  shift 2
  while [ "$1" != -- ]; do
    conditions+=("$1")
    shift
  done
  shift
  while
    send "$id" "$@"
    ! like "$id" "${conditions[@]}" && [ "$SECONDS" -lt "$end" ]
  do sleep 0.2; done
}

# json TEXT: the text as it stands in a JSON text
json() {
  local s=${1//\\/\\\\}
  s=${s//\"/\\\"}
  s=${s//$'\n'/\\n}
  s=${s//$'\r'/\\r}
  printf '%s' "${s//$'\t'/\\t}"
}

# show ID: prints the answer of an exchange
show() {
  cat "$dir/$1.head" "$dir/$1.body"
  echo
}
