// open_pipeline(): the only way from a checked spec to a running pipeline.
#pragma once

#include <memory>
#include <optional>

#include "headrace/dataset.h"
#include "headrace/pipeline.h"

namespace headrace {

Result<Pipeline> open_pipeline(const std::shared_ptr<const Op>& op, const std::shared_ptr<Dataset::Shared>& shared,
                               const std::optional<Position>& position);

}  // namespace headrace
