#include <sstream>
#include <utility>

#include "base/environment.h"
#include "headrace/report.h"
#include "runtime/cpu_budget.h"

namespace headrace {

Result<std::vector<Setting>> environment() {
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<int> threads, environment_threads());
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<std::int64_t> memory, environment_memory_limit());
  HEADRACE_ASSIGN_OR_RETURN(const double stall_seconds, environment_stall_seconds());
  HEADRACE_ASSIGN_OR_RETURN(std::string cpu, environment_cpu());
  HEADRACE_ASSIGN_OR_RETURN(std::string log_level, environment_log_level());
  HEADRACE_ASSIGN_OR_RETURN(const std::string cache_dir, environment_cache_dir());
  HEADRACE_ASSIGN_OR_RETURN(std::string tf_route, environment_tf_route());
  HEADRACE_ASSIGN_OR_RETURN(const int remote_timeout, environment_remote_timeout());
  HEADRACE_ASSIGN_OR_RETURN(const int remote_attempts, environment_remote_attempts());
  std::ostringstream seconds;
  seconds << stall_seconds;

  std::vector<Setting> settings;
  const auto add = [&settings](const char* name, std::string value) {
    settings.push_back({name, std::move(value), !is_in_environment(name)});
  };
  add("HEADRACE_THREADS", std::to_string(threads.value_or(cpu_budget())));
  add("HEADRACE_MEMORY_LIMIT", memory ? std::to_string(*memory) : "none");
  add("HEADRACE_CPU", std::move(cpu));
  add("HEADRACE_STALL_SECONDS", seconds.str());
  add("HEADRACE_LOG_LEVEL", std::move(log_level));
  add("HEADRACE_CACHE_DIR", cache_dir.empty() ? "none" : cache_dir);
  add("HEADRACE_REMOTE_TIMEOUT", std::to_string(remote_timeout));
  add("HEADRACE_REMOTE_ATTEMPTS", std::to_string(remote_attempts));
  add("HEADRACE_TF_ROUTE", std::move(tf_route));
  add("HEADRACE_CUDA_LIBRARY", environment_cuda_library());
  return settings;
}

int available_cpus() { return cpu_budget(); }

}  // namespace headrace
