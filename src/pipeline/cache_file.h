// The file of cache(path): the encoded batches of one pass behind each other, and where each is (docs/formats/cache.md).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pipeline/cached_epoch.h"

namespace headrace {

/// The batches in `path`; null when there is no such file. kInvalidArgument when they are not those of `identity`: what they
/// were made of, as text; kDataLoss when the file is damaged or none of ours.
Result<std::shared_ptr<const CachedEpoch>> open_cache_file(const std::string& path, const std::string& identity);

/// Writes a hidden temporary file beside `path`; finish() syncs and renames it.
Result<std::unique_ptr<EpochWriter>> make_file_writer(const std::string& path, const std::string& identity);

}  // namespace headrace
