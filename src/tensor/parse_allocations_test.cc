// In steady state a batch costs a few heap allocations, a record none.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>

#include "headrace/example.h"
#include "tensor/parse_testing.h"

namespace {

std::atomic<std::int64_t> allocations{0};

void* counted(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes > 0 ? bytes : 1);
}

}  // namespace

// The whole test program counts; the library itself never replaces these.
void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace headrace::testing {
namespace {

std::int64_t allocations_of_one_batch(BatchParser& parser, const std::vector<RecordBytes>& rows) {
  ParseInput input{.rows = rows, .replica_rows = {static_cast<std::int64_t>(rows.size())}, .origins = {}};
  const std::int64_t before = allocations.load();
  const std::unique_ptr<ParseJob> job = parser.begin(std::move(input), static_cast<std::int64_t>(rows.size()) / 4);
  do {
    for (int task = 0; task < job->tasks(); ++task) job->run(task);
  } while (job->finish_phase());
  EXPECT_TRUE(job->take().ok());
  return allocations.load() - before;
}

TEST(ParseAllocations, AFewPerBatchNonePerRecord) {
  const Feature tensor = list_of(FeatureKind::kTensor, "t", DType::kFloat32, {2, 2});
  const Schema schema{.features = {fixed("a", DType::kInt64), fixed("x", DType::kFloat32),
                                   with_default<std::int64_t>(fixed("d", DType::kInt64), {1}), tensor,
                                   fixed("s", DType::kBytes), list_of(FeatureKind::kVarLen, "n", DType::kInt64),
                                   list_of(FeatureKind::kVarLen, "m", DType::kBytes),
                                   list_of(FeatureKind::kFixedLenSequence, "q", DType::kFloat32)}};
  const std::vector<std::uint8_t> content(16);
  std::string record = ints("a", {300}) + floats("x", {1}) + strings("s", {"text"}) + ints("n", {1, 2, 3}) +
                       strings("m", {"a", "bc"}) + floats("q", {1, 2}) +
                       strings("t", {*make_tensor_proto(DType::kFloat32, {2, 2}, content)});
  const std::size_t size = record.size();
  record.append(kRecordPadding, '\0');
  const RecordBytes row(reinterpret_cast<const std::uint8_t*>(record.data()), size);
  const std::vector<RecordBytes> small(256, row);
  const std::vector<RecordBytes> large(4096, row);

  const std::unique_ptr<BatchParser> parser = make_example_parser(schema, std::make_shared<BufferPool>());
  for (int warm = 0; warm < 3; ++warm) {
    (void)allocations_of_one_batch(*parser, small);
    (void)allocations_of_one_batch(*parser, large);
  }
  const std::int64_t of_small = allocations_of_one_batch(*parser, small);
  // Larger columns leave the shared buffer for one of their own: a handful more, not thousands.
  EXPECT_LE(allocations_of_one_batch(*parser, large), of_small + 16);
  EXPECT_LE(of_small, 100);
}

}  // namespace
}  // namespace headrace::testing
