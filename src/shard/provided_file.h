// Files of a FileProvider as shards. They are read by IO threads alone: each read counts as one that waits.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "headrace/file_provider.h"
#include "shard/stored_file.h"

namespace headrace {

Result<std::vector<ShardFile>> find_provided(const std::shared_ptr<const FileProvider>& provider,
                                             const std::vector<std::string>& items, bool is_list);

}  // namespace headrace
