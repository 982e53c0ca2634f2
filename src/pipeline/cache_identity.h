// What the batches of a cache are made of, as text: two pipelines with one identity have the same ones.
#pragma once

#include <memory>
#include <string>

#include "pipeline/op.h"

namespace headrace {

/// Files (names and sizes), steps and features before the cache() of `last`, and the shares that a batch is cut into. Functions
/// of map() count by their names.
std::string cache_identity(const std::shared_ptr<const Op>& last, const ShardList& shards);

}  // namespace headrace
