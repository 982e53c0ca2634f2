#include "pipeline/source_files.h"

#include <algorithm>

#include "base/environment.h"

namespace headrace {
namespace {

// Bytes that the files behind URLs of a pipeline may be read ahead by: a quarter of its budget, up to the engine's own limit.
std::int64_t remote_read_ahead(const ReadOptions& options, std::optional<std::int64_t> environment_limit) {
  const std::int64_t most = RemoteOptions().read_ahead_bytes;
  const std::optional<std::int64_t> budget = options.memory_bytes ? options.memory_bytes : environment_limit;
  return budget ? std::min(most, *budget / 4) : most;
}

}  // namespace

Result<ShardList> find_source_files(const SourceOp& source, std::int64_t sharers) {
  const ReadOptions& options = source.options;
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<std::int64_t> limit, environment_memory_limit());
  FileSpec spec = file_spec(source);
  spec.provider = options.provider;
  spec.remote.read_ahead_bytes = remote_read_ahead(options, limit) / sharers;
  if (options.cache_bytes) {
    spec.remote.cache_bytes = *options.cache_bytes;
    spec.remote.cache_dir = options.cache_dir;
    if (spec.remote.cache_dir.empty()) {
      HEADRACE_ASSIGN_OR_RETURN(const std::string folder, environment_cache_dir());
      if (folder.empty()) {
        return invalid_argument(
            "cache_bytes: there is no folder for a cache: pass cache_dir, or set HEADRACE_CACHE_DIR");
      }
      spec.remote.cache_dir = folder + "/objects";
    }
  }
  return find_shards(spec);
}

bool reads_local_files(const SourceOp& source) {
  const std::vector<std::string>& items = source.files.items;
  return source.options.provider == nullptr && std::none_of(items.begin(), items.end(), is_remote);
}

}  // namespace headrace
