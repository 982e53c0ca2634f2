#include "pipeline/source_files.h"

#include <algorithm>

#include "base/environment.h"

namespace headrace {

std::int64_t remote_read_ahead(const ReadOptions& options, std::optional<std::int64_t> environment_limit) {
  const std::int64_t most = RemoteOptions().read_ahead_bytes;
  const std::optional<std::int64_t> budget = options.memory_bytes ? options.memory_bytes : environment_limit;
  return budget ? std::min(most, *budget / 4) : most;
}

Result<ShardList> find_source_files(const SourceOp& source) {
  const ReadOptions& options = source.options;
  HEADRACE_ASSIGN_OR_RETURN(const std::optional<std::int64_t> limit, environment_memory_limit());
  FileSpec spec{.items = source.files.items, .is_list = source.files.is_list, .provider = options.provider};
  spec.remote.read_ahead_bytes = remote_read_ahead(options, limit);
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

}  // namespace headrace
