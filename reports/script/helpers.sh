# need VARIABLE: ends the script if the variable is not set
need() {
  [ -z "${!1-}" ] || return 0
  printf '%s is not set. This command sets it to its value in the configuration:\n  %s\n' "$1" "$command" >&2
  exit 2
}

# step N STATUS SENTENCE curl ARGUMENTS: sends a request once. STATUS is that of the test run, or - for any
step() {
  request "$1" "${@:4}"
  report "$1" "$2" "$3"
}

# poll N STATUS SENTENCE SECONDS curl ARGUMENTS: sends a request until the response has a status of the same class, a line
# that matches $like, and for each KEY:NTH in $new a value that no other response has
poll() {
  local n=$1 status=$2 sentence=$3 end=$((SECONDS + $4)) is
  shift 4
  [ ! -s "$dir/unlike" ] || end=$((SECONDS + 2)) # the verdict is known to be "could not tell"
  while
    request "$n" "$@"
    is=$status
    matches "$n" "$status" || is=unlike
    [ "$is" = unlike ] && [ "$SECONDS" -lt "$end" ]
  do sleep 0.2; done
  report "$n" "$is" "$sentence"
}

# watch N SENTENCE SECONDS PATIENT curl ARGUMENTS: repeats the last read until its response is wrong. With PATIENT, it may
# be wrong until it has been right. So it may if it lacks a text, but then nobody can tell whether that took too long
watch() {
  local n=$1 sentence=$2 end=$((SECONDS + $3)) patient=$4$requires is wrong=
  shift 4
  while
    request "$n" "$@"
    is=0
    judge "$n" || is=$?
    [ "$is" != 1 ] || wrong=yes
    [ "$is" != 0 ] || patient=
    [ "$is" != 0 ] || [ -z "$wrong" ] || [ -z "$requires" ] || echo "$n" >"$dir/late"
    { [ "$is" != 1 ] || [ -n "$patient" ]; } && [ "$SECONDS" -lt "$end" ]
  do sleep 0.2; done
  report "$n" - "$sentence"
}

# request N curl ARGUMENTS: sends a request and stores the response
request() {
  local file=$dir/$1 code=0
  shift
  printf '%q ' "$@" >"$file.sent"
  date +%s >"$file.at"
  rm -f "$file.head" "$file.body"
  "$@" -sS -g --path-as-is -D "$file.head" -o "$file.body" -w '%{http_code}' >"$file.status" || code=$?
  echo "$code" >"$file.code"
  touch "$file.head" "$file.body"
}

# age N: prints for how many seconds the run that step N started is in progress. The step may be in the background, and
# not have begun
age() {
  local tries=100
  while [ ! -s "$dir/$1.at" ] && [ "$tries" -gt 0 ]; do
    sleep 0.05
    tries=$((tries - 1))
  done
  echo $(($(date +%s) - $(cat "$dir/$1.at" || echo 0)))
}

# in_time N SECONDS: notes if the run that step N started may have ended
in_time() {
  [ "$(age "$1")" -lt $(($2 - 1)) ] || {
    echo "too slow: the run of step $1 may have ended"
    echo "$1" >>"$dir/unlike"
  }
}

# until_end N SECONDS: waits until the run that step N started has ended
until_end() {
  while [ "$(age "$1")" -le "$2" ]; do sleep 0.2; done
}

# report N STATUS SENTENCE: prints a step, and notes whether its status has another class than the given one
report() {
  local status note=
  status=$(cat "$dir/$1.status")
  if [ "$2" = unlike ]; then
    note=', which is not the response of the test run'
  elif [ "$2" != - ] && [ "${status%??}" != "${2%??}" ]; then
    note=", but $2 in the test run"
    [ "$2" != 000 ] || note=', but no response in the test run'
  fi
  [ -z "$note" ] || echo "$1" >>"$dir/unlike"
  [ "$status" != 000 ] || status='no response'
  echo "$1. $3: $status$note"
}

# value N KEY NTH: prints the NTH string or number with the key in the response of a step
value() {
  grep -aoE "\"$2\"[[:space:]]*:[[:space:]]*(\"[^\"\\\\]*\"|-?[0-9]+)" "$dir/$1.body" |
    sed "s/^\"$2\"[[:space:]]*:[[:space:]]*\"\{0,1\}\([^\"]*\)\"\{0,1\}\$/\1/" | sed -n "$3p" || true
}

# take NAME N KEY NTH: sets a variable to a value of a response
take() {
  printf -v "$1" '%s' "$(value "$2" "$3" "$4")"
  [ -n "${!1}" ] || {
    [ "$(cat "$dir/$2.status")" != 000 ] || end 3 "could not tell: step $2 had no response"
    show "$2"
    end 3 "could not tell: the response of step $2 has no $3, which the next request needs"
  }
}

# matches N STATUS: checks the response of a step for poll
matches() {
  local n=$1 each is
  is=$(cat "$dir/$n.status")
  [ "${is%??}" = "${2%??}" ] || return 1
  [ -z "${like-}" ] || grep -aqE -- "$like" "$dir/$n.body" || return 1
  for each in ${new-}; do
    is=$(value "$n" "${each%:*}" "${each#*:}")
    [ -n "$is" ] && ! grep -rqaF --include='*.body' --exclude="$n.body" -- "\"$is\"" "$dir" || return 1
  done
}

# json TEXT: prints the text escaped for a JSON string
json() {
  local s=${1//\\/\\\\}
  s=${s//\"/\\\"}
  s=${s//$'\n'/\\n}
  printf '%s' "${s//$'\t'/\\t}"
}

# judge N: returns 0 if the response of a step is right, 1 if it is wrong, and 2 if that cannot be told
judge() {
  local status text
  status=$(cat "$dir/$1.status")
  if [ "$status" = 000 ]; then # only a connection without a response counts, and only if the test run had none either
    [ -n "$silent" ] && [[ " 28 52 56 " = *" $(cat "$dir/$1.code") "* ]] && return 1
    return 2
  fi
  [ -z "$lacks" ] || ! grep -aqF -- "$lacks" "$dir/$1.body" || return 1
  if [[ " $statuses " != *" $status "* && " $statuses " != *" ${status%??}XX "* ]]; then
    [ -z "$lacks$requires" ] && return 1 || return 2
  fi
  while IFS= read -r text; do
    [ -z "$text" ] || grep -aqF -- "$text" "$dir/$1.body" || return 1
  done <<<"$requires"
  while IFS= read -r text; do
    [ -z "$text" ] || grep -aqF -- "$text" "$dir/$1.body" || return 2
  done <<<"$contains"
}

# decide N EXPECTED DOUBT OTHERS: ends the script with the verdict about the response of a step. DOUBT is why one right
# response is not enough, or empty. OTHERS is a note about other responses that showed the same finding, or empty
decide() {
  local is=0 got expected=$2
  judge "$1" || is=$?
  got=$(cat "$dir/$1.status")
  [ "$got" != 000 ] || got='no response'
  if [ -n "$lacks" ]; then
    expected="$expected without \"${lacks//$'\n'/\" or \"}\""
    [ "$is" != 1 ] || got="$got with it"
  elif [ -n "$requires" ]; then
    expected="$expected with \"${requires//$'\n'/\" and \"}\""
    [ "$is" != 1 ] || got="$got without it"
  fi
  show "$1"
  if [ -s "$dir/unlike" ]; then
    end 3 "could not tell: the script does not go like the test run, first in step $(head -n 1 "$dir/unlike")"
  elif [ "$is" = 1 ]; then
    end 1 "expected $expected, got $got: still failing"
  elif [ "$is" = 2 ]; then
    end 3 "could not tell: expected $expected, got $got"
  elif [ -s "$dir/late" ]; then
    end 3 "could not tell: as expected only after some time"
  elif [ -n "$3" ]; then
    end 3 "could not tell: as expected this time, but $3"
  fi
  [ -z "$4" ] || echo "$4"
  end 0 "expected $expected, got $got: now as expected"
}

# compare N EXPECTED ACTUAL: ends the script with the response of a step, which only the suite can judge
compare() {
  show "$1"
  end 3 "compare with: expected $2, got $3 in the test run"
}

# show N: prints the response of a step
show() {
  local size=$(($(wc -c <"$dir/$1.body"))) most=20000
  echo
  cat "$dir/$1.head" | visible
  head -c "$most" "$dir/$1.body" | visible
  [ "$size" -le "$most" ] || printf '\n(%d bytes, of which %d are shown)' "$size" "$most"
  echo
}

# visible: removes control characters, which a server may send to change what a terminal shows
visible() {
  LC_ALL=C tr -d '\000-\010\013-\037\177' | LC_ALL=C sed $'s/\xc2[\x80-\x9f]/?/g'
}

# end CODE VERDICT: ends the script. The verdict is the last line
end() {
  verdict=$2
  exit "$1"
}

finish() {
  local code=$?
  trap - EXIT
  kill $(jobs -p) 2>/dev/null || true
  clean_up || true
  rm -rf "$dir"
  if [ -z "$verdict" ] && [ "$code" != 2 ] && [ "$code" != 130 ]; then # a command failed: this is not a verdict
    code=3 verdict='could not tell: the script ended early'
  fi
  [ -z "$verdict" ] || printf '%s\n' "$verdict" | visible
  exit "$code"
}

# clean_up: removes the objects that the steps in $created created. Each is STEP:KEY, with the key of the id
clean_up() {
  local each id removed=0 all=0
  for each in $created; do
    [ -s "$dir/${each%:*}.status" ] && [[ $(cat "$dir/${each%:*}.status") = 2?? ]] || continue
    id=$(value "${each%:*}" "${each#*:}" 1)
    [[ -n $id && $id != *[!A-Za-z0-9_-]* ]] || continue
    all=$((all + 1))
    [ "${KEEP-}" != 1 ] || continue
    eval "remove '$id' $(cat "$dir/${each%:*}.sent")" && removed=$((removed + 1))
  done
  if [ "${KEEP-}" = 1 ]; then
    echo "KEEP=1: $all created objects stay at the server"
  elif [ "$all" != 0 ]; then
    echo "removed $removed of $all created objects (KEEP=1 keeps them)"
  fi
}

# remove ID curl ARGUMENTS: removes an object. The arguments are those of the request that created it
remove() {
  local id=$1 url=${!#} sent=() status= tries=5
  shift
  while [ $# -gt 1 ]; do
    case $1 in
      -X | --data-raw) shift ;;
      -H) [[ $2 = Content-Type:* ]] || sent+=("$1" "$2"); shift ;;
      *) sent+=("$1") ;;
    esac
    shift
  done
  while
    status=$("${sent[@]}" -sS -g -X DELETE -o "$dir/removed" -w '%{http_code}' "$url/$id") || true
    tries=$((tries - 1))
    [[ $status = 409 || $status = 429 || $status = 5?? ]] && [ "$tries" -gt 0 ]
  do sleep 1; done
  [[ $status = 2?? || $status = 404 || $status = 410 ]] || {
    echo "not removed: DELETE $url/$id returned $status"
    return 1
  }
}

