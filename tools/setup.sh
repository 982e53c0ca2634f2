# Set-up for ./run (sourced): the distribution's packages, the private environment .venv, the release build.
# Every step looks at what is there first and leaves its stamp last, so that running again repairs a half-finished one.

readonly DEBIAN_PACKAGES=(git g++ cmake ninja-build ccache mold clang-format libgtest-dev libgmock-dev zlib1g-dev libisal-dev
  libzstd-dev libsnappy-dev libjpeg62-turbo-dev libpng-dev libcurl4-openssl-dev libssl-dev libpugixml-dev nlohmann-json3-dev python3 python3-venv python3-dev)
readonly TEST_PACKAGES=(g++-aarch64-linux-gnu nginx-light)
readonly LINT_PACKAGES=(clang clang-tidy)
readonly VENV="$ROOT/.venv"
readonly PYTHON="$VENV/bin/python"
readonly LOGS="$ROOT/build/logs"

say() { printf '==> [%3d s] %s\n' "$SECONDS" "$*" >&2; }

die() { printf 'run: %s\n' "$*" >&2; exit 1; }

# quietly LABEL COMMAND...: output goes to a log; a line every 15 seconds tells that it still runs; a failure shows the end.
quietly() {
  local label=$1 log status=0 pid ticks=0
  shift
  mkdir -p "$LOGS"
  log="$LOGS/$label.log"
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    ticks=$((ticks + 1))
    if ((ticks % 75 == 0)); then say "$label: still at it: $(tail -n 1 "$log" | cut -c 1-90)"; fi
  done
  wait "$pid" || status=$?
  if ((status != 0)); then
    tail -n 40 "$log" >&2
    die "$label failed (exit $status); the whole output is in ${log#"$ROOT"/}"
  fi
}

install_packages() {
  local missing=() name present as_root=()
  present=$(dpkg-query -W -f '${binary:Package} ${db:Status-Abbrev}\n' "$@" 2>/dev/null | sed -n 's/^\([^ :]*\).* ii *$/\1/p' || true)
  for name in "$@"; do
    grep -qx "$name" <<<"$present" || missing+=("$name")
  done
  if ((${#missing[@]} == 0)); then return; fi
  command -v apt-get >/dev/null || die "install these with your package manager, then run again: ${missing[*]}"
  if ((EUID != 0)); then as_root=(sudo); fi
  say "Debian packages: ${missing[*]}"
  quietly apt-update "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update
  quietly apt-install "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

install_environment() {
  local stamp="$VENV/ready" key
  key=$({ echo "$ROOT"; /usr/bin/python3 --version; cat "$ROOT/tools/requirements.txt"; } | sha256sum)
  if [[ -f $stamp && $(<"$stamp") == "$key" ]]; then return; fi
  rm -f "$stamp"
  say "Python environment .venv (TensorFlow for the comparison included: about a minute)"
  if ! grep -qsx "VIRTUAL_ENV=[\"']\?$VENV[\"']\?" "$VENV/bin/activate" || ! "$PYTHON" -m pip --version >/dev/null 2>&1; then
    quietly venv /usr/bin/python3 -m venv --clear "$VENV"
  fi
  quietly pip "$PYTHON" -m pip install --disable-pip-version-check --progress-bar off -r "$ROOT/tools/requirements.txt"
  echo "$ROOT/python" >"$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/headrace_tree.pth"
  echo "$key" >"$stamp"
}

configure() {
  local preset=$1
  if [[ -f $ROOT/build/$preset/build.ninja ]]; then return; fi
  say "configure build/$preset"
  quietly "configure-$preset" cmake -S "$ROOT" --preset "$preset" --fresh
}

# build PRESET [TARGET]
build() {
  local preset=$1 target=${2:-all}
  configure "$preset"
  cmake --build "$ROOT/build/$preset" --target "$target" -j "$(nproc)" 2>&1 |
    { grep --line-buffered -v 'no work to do\|Re-checking globbed' || true; } >&2
}

# set_up [TARGET]: what everything but the tests needs is the Python package alone.
# The lock keeps two set-ups in one tree from installing over each other.
set_up() {
  mkdir -p "$ROOT/build"
  exec 9>"$ROOT/build/.lock"
  flock 9
  install_packages "${DEBIAN_PACKAGES[@]}"
  install_environment
  build release "${1:-headrace_python}"
  exec 9>&-
}
