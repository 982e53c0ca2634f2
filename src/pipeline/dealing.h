// Dealing: which worker of how many a position was saved by, where shard() by record deals the stream out; and whether another
// number of workers can go on with it.
//
// At a batch border of equal batches every worker has had the same number of rounds, so the position of any one of them says
// where all stand: behind the round that its last record belongs to. What follows is dealt out anew, as long as the order that
// is dealt does not depend on how many workers there are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "headrace/status.h"
#include "pipeline/op.h"

namespace headrace {

struct Dealing {
  std::int64_t num_shards = 1;
  std::int64_t index = 0;
};

/// The last shard() of the chain, whose records are dealt out; null without any.
const Op* dealing_op(const std::shared_ptr<const Op>& last);

/// How the stream of a position with the text `saved` was dealt out, where that differs from `last` in the numbers of dealing_op()
/// and the size of the batches alone. Nothing where it does not differ, or by more than that. kInvalidArgument where another
/// number of workers cannot go on with it.
Result<std::optional<Dealing>> dealing_before(const std::string& saved, const std::shared_ptr<const Op>& last);

}  // namespace headrace
