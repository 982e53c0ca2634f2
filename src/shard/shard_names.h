// What the names of files say: side files, and sets of shards named NAME-00000-of-00008. Pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// The part behind the last slash.
std::string_view base_name(std::string_view path);

/// True for what is never data: hidden files, _SUCCESS and other names in underscores, checksums, editors' backups.
bool is_side_file(std::string_view base_name);

/// True for names that promise records: tfrecord in it, or a place in a set of shards.
bool is_record_name(std::string_view base_name);

/// Paths that sets of shards lack: "dir/train-00002-of-00004" when the others are there. At most `limit` of them.
std::vector<std::string> missing_shards(std::span<const std::string> paths, std::size_t limit);

/// "a, b, c and 5 more".
std::string join_some(std::span<const std::string> names, std::size_t limit);

}  // namespace headrace
