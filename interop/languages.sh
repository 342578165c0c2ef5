# What run.sh and clients.sh share: read with ".", not run.

# missing prints why a language cannot be used here, or nothing.
missing() {
  case $1 in
  python)
    python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
      echo "Python 3.11 with venv is not installed" ;;
  javascript)
    { command -v npm >/dev/null && node -e 'process.exit(Number(parseInt(process.versions.node) < 20))' 2>/dev/null; } ||
      echo "Node.js 20 with npm is not installed" ;;
  esac
}
