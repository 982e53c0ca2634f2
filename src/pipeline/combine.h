// How the records of several datasets are combined, in the words of the stage that does it.
#pragma once

#include <optional>

#include "batch/choices.h"
#include "pipeline/op.h"

namespace headrace {

/// Which input each record comes from; nothing where one comes behind the other.
std::optional<ChoiceOptions> choice_options(const CombineOp& combine);

/// Whether the stream ends with the first input that is chosen and has no more records.
bool stops_on_empty(const CombineOp& combine);

}  // namespace headrace
