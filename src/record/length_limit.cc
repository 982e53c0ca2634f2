#include "record/length_limit.h"

#include <algorithm>

#include "base/environment.h"
#include "runtime/memory_budget.h"

namespace headrace {
namespace {

constexpr std::uint64_t kLongest = UINT32_MAX;
constexpr std::int64_t kShareOfBudget = 4;

}  // namespace

std::uint64_t length_limit(const ReadOptions& options) {
  return options.max_record_bytes ? std::min(static_cast<std::uint64_t>(*options.max_record_bytes), kLongest)
                                  : kLongest;
}

Result<std::uint64_t> stream_length_limit(const ReadOptions& options) {
  if (options.max_record_bytes) return length_limit(options);
  std::optional<std::int64_t> budget = options.memory_bytes;
  if (!budget) {
    HEADRACE_ASSIGN_OR_RETURN(budget, environment_memory_limit());
  }
  static const std::int64_t kOfProcess = memory_of_process();
  return std::min(static_cast<std::uint64_t>(budget.value_or(kOfProcess) / kShareOfBudget), kLongest);
}

std::string describe_limit(std::uint64_t limit, const ReadOptions& options) {
  if (limit == kLongest) return "the largest record that is read, 4 GiB - 1 bytes";
  std::string text = "max_record_bytes = " + std::to_string(limit);
  if (!options.max_record_bytes) {
    text +=
        ", a quarter of the memory budget: of compressed files nothing else bounds what is claimed. Set "
        "max_record_bytes "
        "to read it";
  }
  return text;
}

}  // namespace headrace
