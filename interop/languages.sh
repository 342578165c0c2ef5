# What run.sh, mutants.sh and clients.sh share: read with ".", not run. here is the folder of the scripts.

# installed tells whether the packages of a language are there, in the versions of its list.
installed() {
  local cache=${INTEROP_CACHE:-$here/.cache}/$1
  case $1 in
  python) cmp -s "$here/python/requirements.txt" "$cache/requirements.txt" ;;
  javascript) cmp -s "$here/javascript/package.json" "$cache/installed.json" ;;
  esac
}

# reachable tells whether the registry of a language's packages responds.
reachable() {
  case $1 in
  python) curl -s -o /dev/null --max-time 30 "${PIP_INDEX_URL:-https://pypi.org/simple}/pip/" ;;
  javascript) curl -s -o /dev/null --max-time 30 "$(npm config get registry 2>/dev/null)" ;;
  esac
}

# missing prints why a language cannot be used here, or nothing.
missing() {
  local why
  why=$(not_there "$1")
  if [ -z "$why" ] && ! installed "$1" && ! reachable "$1"; then
    why="its packages are not installed, and their registry cannot be reached"
  fi
  [ -z "$why" ] || echo "$why"
}

not_there() {
  command -v curl >/dev/null || { echo "curl is not installed"; return; }
  case $1 in
  python)
    python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
      echo "Python 3.11 with venv is not installed" ;;
  javascript)
    { command -v npm >/dev/null && node -e 'process.exit(Number(parseInt(process.versions.node) < 20))' 2>/dev/null; } ||
      echo "Node.js 20 with npm is not installed" ;;
  esac
}

# Whatever is started is a process group of its own (set -m) and is ended whatever happens, the test before the server.
server= job= watch=
stop() {
  local group
  for group in $watch $job $server; do
    kill -- "-$group" 2>/dev/null && wait "$group" 2>/dev/null
  done
  server= job= watch=
}
stop_at_end() {
  set -m
  trap stop EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

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

# within is wait_for with a limit of seconds: after these it ends the command, and returns 124.
within() {
  local rc limit=$1
  shift
  "$@" &
  job=$!
  { sleep "$limit" && kill -- "-$job"; } 2>/dev/null &
  watch=$!
  wait "$job"
  rc=$?
  kill -- "-$watch" 2>/dev/null
  wait "$watch" 2>/dev/null
  job= watch=
  [ "$rc" != 143 ] || rc=124 # 143: ended by SIGTERM
  return "$rc"
}

# install installs the packages of a language; the log is a file.
install() {
  local language=$1 log=$2
  if ! wait_for "$here/serve.sh" "$language" install >"$log" 2>&1; then
    tail -n 5 "$log"
    echo "interop: $language: the packages could not be installed, see $log"
    return 1
  fi
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

# start starts the server of a language, adds its output to the log, and sets url when it responds. More arguments are those of
# serve.sh after the port.
start() {
  local language=$1 log=$2
  shift 2
  url=http://127.0.0.1:$(free_port "$language")
  "$here/serve.sh" "$language" "${url##*:}" "$@" >>"$log" 2>&1 &
  server=$!
  for _ in $(seq 300); do
    curl -s -o /dev/null --max-time 5 "$url/ok" && return
    if ! kill -0 "$server" 2>/dev/null; then
      tail -n 20 "$log"
      echo "interop: $language: the server ended before it responded, see $log"
      server=
      return 1
    fi
    sleep 0.2
  done
  echo "interop: $language: the server did not respond within a minute, see $log"
  return 1
}
