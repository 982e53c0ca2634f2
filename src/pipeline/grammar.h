// Which op may stand behind which (docs/design/spec_tree.md).
#pragma once

#include "pipeline/op.h"

namespace headrace {

/// Ok when `next` may follow `last`; else kInvalidArgument that names both and prints the working order.
Status check_order(const std::shared_ptr<const Op>& last, const Op& next);

/// Whether the records of `inputs` can be combined by `step`; otherwise kInvalidArgument naming the input.
Status check_combined(const std::string& step, const std::vector<CombinedInput>& inputs);

}  // namespace headrace
