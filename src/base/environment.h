// The only place that reads environment variables. Values are read when asked for; any thread.
//
// HEADRACE_THREADS        worker threads of this process, >= 1
// HEADRACE_MEMORY_LIMIT   memory budget of a pipeline: bytes, or with suffix K, M, G (1024-based)
// HEADRACE_CPU            highest kernel set to use: auto, scalar, sse42, avx2, avx512
// HEADRACE_STALL_SECONDS  a consumer that waits longer gets one warning; > 0, default 30
// HEADRACE_LOG_LEVEL      level of Python's loggers `headrace.*`: notset, debug, info, warning, error, critical
// HEADRACE_CACHE_DIR      folder for what can be made again, such as indexes; an absolute path
// HEADRACE_REMOTE_TIMEOUT   seconds for a connection, and without data from a server; 1 to 3600, default 30
// HEADRACE_REMOTE_ATTEMPTS  of a request without any progress; 1 to 100, default 8
// HEADRACE_TF_ROUTE       what route="auto" of the TensorFlow adapter means: auto, direct, dataset
// HEADRACE_CUDA_LIBRARY   the CUDA driver, as the dynamic linker finds it; default libcuda.so.1
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "headrace/status.h"

namespace headrace {

/// Nothing (or the default) when unset or empty; kInvalidArgument naming variable and value when it cannot be used.
Result<std::optional<int>> environment_threads();
Result<std::optional<std::int64_t>> environment_memory_limit();
Result<std::string> environment_cpu();
Result<double> environment_stall_seconds();
Result<std::string> environment_log_level();
Result<std::string> environment_tf_route();
Result<int> environment_remote_timeout();
Result<int> environment_remote_attempts();

std::string environment_cuda_library();

/// HEADRACE_CACHE_DIR, else XDG_CACHE_HOME/headrace, else HOME/.cache/headrace; empty when there is none of these.
Result<std::string> environment_cache_dir();

/// The first failure of all of the above.
Status check_environment();
/// Whether the variable has a value.
bool is_in_environment(const char* name);

/// A variable that belongs to somebody else, such as AWS_REGION; empty when it has no value.
std::string environment_text(const char* name);
/// The file of CA certificates that one of the usual variables names; empty when none does.
std::string environment_ca_bundle();

/// How many worker processes share this host: LOCAL_WORLD_SIZE, else SLURM_NTASKS_PER_NODE, else 1.
int environment_local_processes();

}  // namespace headrace
