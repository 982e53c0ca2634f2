// parse_example(): the pipeline's parser on bytes of the caller.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "example/example_reader.h"
#include "headrace/example.h"
#include "runtime/thread.h"
#include "tensor/batch_parser.h"

namespace headrace {
namespace {

constexpr int kMaxThreads = 64;
constexpr std::int64_t kRowsPerTask = 256;

void run_phase(ParseJob& job, int num_threads) {
  std::atomic<int> next{0};
  const auto work = [&job, &next] {
    for (int task = next.fetch_add(1); task < job.tasks(); task = next.fetch_add(1)) job.run(task);
  };
  std::vector<Thread> helpers;
  const int helping = std::min(std::min(num_threads, kMaxThreads), job.tasks()) - 1;
  helpers.reserve(static_cast<std::size_t>(std::max(helping, 0)));
  for (int i = 0; i < helping; ++i) helpers.emplace_back("headrace-parse", work);
  work();
}

}  // namespace

Result<Slice> parse_example(std::span<const std::string_view> serialized, const Schema& schema, int num_threads) {
  HEADRACE_RETURN_IF_ERROR(schema.validate());
  if (schema.origin) return invalid_argument("origin: serialized examples of the caller come from no shard");
  if (num_threads < 1) {
    return invalid_argument("num_threads must be at least 1, got " + std::to_string(num_threads));
  }
  // The parser reads a few bytes beyond a record, which the caller's memory need not have.
  std::size_t arena_bytes = 0;
  for (const std::string_view record : serialized) arena_bytes += record.size() + kRecordPadding;
  auto pool = std::make_shared<BufferPool>();
  const BufferPtr arena = pool->acquire(arena_bytes);
  if (arena == nullptr) {
    return Status(StatusCode::kResourceExhausted,
                  "no memory for " + std::to_string(arena_bytes) + " bytes of examples");
  }
  ParseInput input;
  input.rows.reserve(serialized.size());
  input.replica_rows = {static_cast<std::int64_t>(serialized.size())};
  std::uint8_t* to = arena->data();
  for (const std::string_view record : serialized) {
    if (!record.empty()) std::memcpy(to, record.data(), record.size());
    std::memset(to + record.size(), 0, kRecordPadding);
    input.rows.emplace_back(to, record.size());
    to += record.size() + kRecordPadding;
  }

  const std::unique_ptr<ParseJob> job = make_example_parser(schema, pool)->begin(std::move(input), kRowsPerTask);
  do {
    run_phase(*job, num_threads);
  } while (job->finish_phase());
  HEADRACE_ASSIGN_OR_RETURN(std::vector<Slice> slices, job->take());
  return std::move(slices.front());
}

}  // namespace headrace
