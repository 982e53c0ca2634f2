# ./run test and ./run lint (sourced). Every step runs, also after one failed; the end repeats each runner's closing line,
# lists what failed, and the exit status says so.

FAILED=()
CLOSING=()

# step LABEL COMMAND...: runs it, its output shown and kept.
step() {
  local label=$1 log="$LOGS/test-$1.log" status=0
  shift
  say "$label"
  mkdir -p "$LOGS"
  "$@" </dev/null 2>&1 | tee "$log" || status=$?
  if ((status != 0)); then FAILED+=("$label"); fi
  CLOSING+=("$(grep -E '^[0-9]+% tests passed|^=* ?[0-9]+ (passed|failed|error).*' "$log" | tail -n 1 || true)")
}

finish() {
  local line
  echo
  for line in "${CLOSING[@]}"; do if [[ -n $line ]]; then echo "$line"; fi; done
  if ((${#FAILED[@]} > 0)); then
    echo "FAILED: ${FAILED[*]} (the output of each is in build/logs/test-NAME.log)"
    exit 1
  fi
  say "everything passed"
}

# The wheel as a user gets it: built by pip, installed into a folder of its own, imported from there alone. Compiler and
# warnings are those of build/release, so that ccache has the objects.
wheel() {
  local out="$ROOT/build/wheel"
  rm -rf "$out"
  CXX=/usr/bin/c++ "$PYTHON" -m pip wheel . -q --no-deps --no-build-isolation --disable-pip-version-check -w "$out" \
    --config-settings=build-dir="$ROOT/build/wheel-cmake" --config-settings=cmake.define.HEADRACE_WERROR=ON || return
  "$PYTHON" -m pip install -q --no-deps --no-index --disable-pip-version-check --target "$out/site" "$out"/*.whl || return
  (cd "$out" && "$PYTHON" -I "$ROOT/tests/checks/check_wheel.py" "$out/site")
}

run_tests() {
  set_up all
  install_packages "${TEST_PACKAGES[@]}"
  step cxx ctest --preset release -j "$(nproc)"
  # A test that hangs shows every thread's stack after faulthandler_timeout (pyproject.toml), then the step is ended.
  step python timeout -k 10 1800 "$PYTHON" -m pytest -p no:cacheprovider tests/python tests/checks
  step layers "$PYTHON" tests/checks/check_layers.py
  step files "$PYTHON" tests/checks/check_files.py
  step format "$PYTHON" tests/checks/check_format.py
  step arm64 "$PYTHON" tests/checks/check_arm64.py
  step stub "$PYTHON" tests/checks/check_stub.py
  step documents "$PYTHON" tests/checks/check_documents.py
  step wheel wheel
  finish
}

# clang sees what gcc does not: lock annotations, and the checks of .clang-tidy. The bindings are left to the compiler:
# nanobind's headers are not made for clang-tidy.
tidy() {
  local files
  mapfile -t files < <(git ls-files 'src/*.cc' | grep -v '_test\.cc$')
  printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p build/clang
}

run_lint() {
  install_packages "${DEBIAN_PACKAGES[@]}" "${LINT_PACKAGES[@]}"
  install_environment
  configure clang
  step format "$PYTHON" tests/checks/check_format.py
  step layers "$PYTHON" tests/checks/check_layers.py
  step files "$PYTHON" tests/checks/check_files.py
  step thread-safety cmake --build build/clang -j "$(nproc)"
  step tidy tidy
  finish
}
