// What padded_batch() makes of the schema of the parse() behind it.
#pragma once

#include "headrace/dataset.h"
#include "headrace/schema.h"

namespace headrace {

/// `schema` with every feature of varying length padded as `padding` says. kInvalidArgument naming the feature that cannot be.
Result<Schema> padded(const BatchPadding& padding, Schema schema);

}  // namespace headrace
