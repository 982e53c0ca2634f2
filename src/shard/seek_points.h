// Places in a gzip file from which it can be inflated without what stands before them. Pure functions of a file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/index.h"
#include "shard/inflater.h"

namespace headrace {

/// Points of a gzip file, at borders of deflate blocks, at least 1 MiB of output apart and at most kMostSeekPoints of them:
/// each takes 32 KiB. Inflates the whole file; kDataLoss when it is damaged.
Result<std::vector<SeekPoint>> find_seek_points(const std::string& path);
constexpr std::size_t kMostSeekPoints = 256;

/// Inflates the rest of the member from `point` on; `byte` is the one before point.file_offset, whose high bits are still to
/// be read. At the end of the member the trailer is left where it is. Null when there is no memory or the point is no point.
std::unique_ptr<Inflater> make_inflater_at(const SeekPoint& point, std::uint8_t byte);

}  // namespace headrace
