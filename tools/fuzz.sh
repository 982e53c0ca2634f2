# ./run fuzz (sourced): libFuzzer over the targets of tests/fuzz, under AddressSanitizer and UndefinedBehaviorSanitizer.
# What a run learns stays in build/fuzz/corpus; a finding stops it and lies in build/fuzz/findings. Put it into
# tests/fuzz/corpus with its fix: the tests replay what is there. The target "differential" is no program of C++ but
# tests/fuzz/against_tensorflow.py: damaged records read by TensorFlow, too.

fuzz_target() {
  local name=$1 seconds=$2 learned="$ROOT/build/fuzz/corpus/$1"
  mkdir -p "$learned" "$ROOT/build/fuzz/findings"
  say "fuzz $name for $seconds s"
  "$ROOT/build/fuzz/tests/headrace_fuzz_$name" "$learned" "$ROOT/tests/fuzz/corpus/$name" \
    -max_total_time="$seconds" -max_len=2048 -timeout=20 -rss_limit_mb=3000 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$ROOT/build/fuzz/findings/$name-"
}

fuzz_differential() {
  set_up
  say "fuzz differential for $1 s"
  "$PYTHON" tests/fuzz/against_tensorflow.py "$1"
}

run_fuzz() {
  local names=() source name seconds=300
  for source in tests/fuzz/*_fuzz.cc; do
    name=$(basename "$source" _fuzz.cc)
    names+=("$name")
  done
  names+=(differential)
  if [[ ${1:-} == [a-z]* ]]; then
    [[ " ${names[*]} " == *" $1 "* ]] || die "no fuzz target $1; there are: ${names[*]}"
    names=("$1")
    shift
  fi
  if (($# > 0)); then seconds=$1; fi
  [[ $seconds =~ ^[1-9][0-9]*$ ]] || die "fuzz: $seconds is no number of seconds"
  install_packages "${DEBIAN_PACKAGES[@]}" "${LINT_PACKAGES[@]}"
  for name in "${names[@]}"; do
    if [[ $name != differential ]]; then build fuzz "headrace_fuzz_$name"; fi
  done
  for name in "${names[@]}"; do
    if [[ $name == differential ]]; then fuzz_differential "$seconds"; else fuzz_target "$name" "$seconds"; fi
  done
  say "nothing found"
}
