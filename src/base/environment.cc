#include "base/environment.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace headrace {
namespace {

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here calls setenv
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

Status bad_value(const char* name, const std::string& value, const char* wanted) {
  return invalid_argument(std::string(name) + "='" + value + "' is not " + wanted);
}

template <class T>
std::optional<T> parse_whole(const char* first, const char* last) {
  T value{};
  const auto [end, error] = std::from_chars(first, last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

Result<int> number_in(const char* name, int least, int most, int otherwise, const char* wanted) {
  const auto text = variable(name);
  if (!text) return otherwise;
  const auto value = parse_whole<int>(text->data(), text->data() + text->size());
  if (!value || *value < least || *value > most) return bad_value(name, *text, wanted);
  return *value;
}

// The first of `choices` is the default.
Result<std::string> choice(const char* name, std::initializer_list<const char*> choices) {
  const std::string value = variable(name).value_or(*choices.begin());
  std::string wanted = "one of ";
  for (const char* known : choices) {
    if (value == known) return value;
    wanted += known == *choices.begin() ? known : std::string(", ") + known;
  }
  return bad_value(name, value, wanted.c_str());
}

}  // namespace

Result<std::optional<int>> environment_threads() {
  const auto text = variable("HEADRACE_THREADS");
  if (!text) return std::optional<int>();
  const auto value = parse_whole<int>(text->data(), text->data() + text->size());
  if (!value || *value < 1) return bad_value("HEADRACE_THREADS", *text, "a number of threads >= 1");
  return value;
}

Result<std::optional<std::int64_t>> environment_memory_limit() {
  const auto text = variable("HEADRACE_MEMORY_LIMIT");
  if (!text) return std::optional<std::int64_t>();
  static constexpr char kSuffixes[] = "KMG";
  const char* suffix = std::strchr(kSuffixes, text->back());
  const std::size_t digits = text->size() - (suffix != nullptr ? 1 : 0);
  const auto value = parse_whole<std::int64_t>(text->data(), text->data() + digits);
  const int shift = suffix == nullptr ? 0 : 10 * (static_cast<int>(suffix - kSuffixes) + 1);
  if (!value || *value < 1 || *value > (INT64_MAX >> shift)) {
    return bad_value("HEADRACE_MEMORY_LIMIT", *text, "a number of bytes >= 1 with an optional K, M or G");
  }
  return std::optional<std::int64_t>(*value << shift);
}

Result<std::string> environment_cpu() { return choice("HEADRACE_CPU", {"auto", "scalar", "sse42", "avx2", "avx512"}); }

Result<double> environment_stall_seconds() {
  const auto text = variable("HEADRACE_STALL_SECONDS");
  if (!text) return 30.0;
  const auto value = parse_whole<double>(text->data(), text->data() + text->size());
  if (!value || !(*value > 0)) return bad_value("HEADRACE_STALL_SECONDS", *text, "a number of seconds > 0");
  return *value;
}

Result<std::string> environment_log_level() {
  return choice("HEADRACE_LOG_LEVEL", {"notset", "debug", "info", "warning", "error", "critical"});
}

Result<std::string> environment_tf_route() { return choice("HEADRACE_TF_ROUTE", {"auto", "direct", "dataset"}); }

Result<int> environment_remote_timeout() {
  return number_in("HEADRACE_REMOTE_TIMEOUT", 1, 3600, 30, "a number of seconds from 1 to 3600");
}

Result<int> environment_remote_attempts() {
  return number_in("HEADRACE_REMOTE_ATTEMPTS", 1, 100, 8, "a number from 1 to 100");
}

std::string environment_cuda_library() { return variable("HEADRACE_CUDA_LIBRARY").value_or("libcuda.so.1"); }

Result<std::string> environment_cache_dir() {
  if (const auto folder = variable("HEADRACE_CACHE_DIR")) {
    if (folder->front() == '/') return *folder;
    return bad_value("HEADRACE_CACHE_DIR", *folder, "an absolute path");
  }
  // Of the others, a relative path counts as not set, as the XDG specification has it.
  const auto cache = variable("XDG_CACHE_HOME");
  if (cache && cache->front() == '/') return *cache + "/headrace";
  const auto home = variable("HOME");
  if (home && home->front() == '/') return *home + "/.cache/headrace";
  return std::string();
}

Status check_environment() {
  for (Status status : {environment_threads().status(), environment_memory_limit().status(), environment_cpu().status(),
                        environment_stall_seconds().status(), environment_log_level().status(),
                        environment_cache_dir().status(), environment_tf_route().status(),
                        environment_remote_timeout().status(), environment_remote_attempts().status()}) {
    if (!status.ok()) return status;
  }
  return {};
}

std::string environment_text(const char* name) { return variable(name).value_or(std::string()); }

std::string environment_ca_bundle() {
  for (const char* name : {"AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"}) {
    if (auto file = variable(name)) return *file;
  }
  return {};
}

bool is_in_environment(const char* name) { return variable(name).has_value(); }

int environment_local_processes() {
  for (const char* name : {"LOCAL_WORLD_SIZE", "SLURM_NTASKS_PER_NODE"}) {
    const auto text = variable(name);
    if (!text) continue;
    const auto value = parse_whole<int>(text->data(), text->data() + text->size());
    if (value && *value >= 1) return *value;
  }
  return 1;
}

}  // namespace headrace
