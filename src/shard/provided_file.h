// Files of a FileProvider as shards. They are read by IO threads alone: each read counts as one that waits.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/file_provider.h"
#include "shard/stored_file.h"

namespace headrace {

/// After `stop`, their files are opened and read no more: kCancelled once the call that is under way has returned.
Result<std::vector<ShardFile>> find_provided(const std::shared_ptr<const FileProvider>& provider,
                                             const std::vector<std::string>& items, bool is_list,
                                             const std::stop_token& stop);

}  // namespace headrace
