// ParserState: what all jobs of one Example parser share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "headrace/schema.h"
#include "tensor/buffer_pool.h"
#include "tensor/column_plan.h"
#include "tensor/parse_scratch.h"
#include "tensor/row_strings.h"

namespace headrace {

struct ParserState {
  ParserState(const Schema& schema, std::shared_ptr<BufferPool> pool_in)
      : plan(std::make_shared<const ColumnPlan>(schema)),
        pool(std::move(pool_in)),
        scratches(plan),
        string_sizes(plan->variables.size()),
        transform_ns(plan->transformed.size()) {}

  void add_cost(ParseScratch& scratch) {
    for (std::size_t i = 0; i < transform_ns.size(); ++i) {
      transform_ns[i].fetch_add(scratch.clocks[i].take_ns(), std::memory_order_relaxed);
    }
  }

  const std::shared_ptr<const ColumnPlan> plan;
  const std::shared_ptr<BufferPool> pool;
  ScratchPool scratches;
  StringSizes string_sizes;
  std::vector<std::atomic<std::int64_t>> transform_ns;  // by StepTransforms::number
};

}  // namespace headrace
