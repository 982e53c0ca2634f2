#include "example/feature_length.h"

#include <memory>
#include <utility>

#include "example/list_decoder.h"

namespace headrace {
namespace {

std::shared_ptr<const KeySet> keys(const std::string& key) {
  return std::make_shared<const KeySet>(std::vector<std::string>{key});
}

std::int64_t count_values(const FeatureView& list) {
  std::int64_t bytes = 0;
  switch (list.kind) {
    case ListKind::kAbsent:
      return 0;
    case ListKind::kInt64:
      return count_int64_list(list);
    case ListKind::kFloat:
      return count_float_list(list);
    case ListKind::kBytes:
      return count_bytes_list(list, &bytes);
  }
  return -1;
}

}  // namespace

FeatureLength::FeatureLength(std::string key, bool sequence) : key_(std::move(key)), reader_(keys(key_)) {
  if (sequence) sequence_reader_.emplace(keys(key_));
}

Result<std::int64_t> FeatureLength::of(std::span<const std::uint8_t> record) {
  if (sequence_reader_) return steps_of(record);
  FeatureView list;
  HEADRACE_RETURN_IF_ERROR(reader_.read(record, std::span(&list, 1)));
  const std::int64_t count = count_values(list);
  reader_.take_merged();
  if (count < 0) return malformed();
  return count;
}

Result<std::int64_t> FeatureLength::steps_of(std::span<const std::uint8_t> record) {
  FeatureListView list;
  std::span<const std::uint8_t> context;
  HEADRACE_RETURN_IF_ERROR(sequence_reader_->read(record, &context, std::span(&list, 1)));
  StepReader reader(list, &scratch_);
  std::int64_t steps = 0;
  for (FeatureView step; reader.next(&step);) ++steps;
  sequence_reader_->take_merged();
  if (reader.malformed()) return malformed();
  return steps;
}

Status FeatureLength::malformed() const {
  Where where;
  where.key = key_;
  return {StatusCode::kSchemaMismatch, "feature '" + key_ + "' is malformed", where};
}

}  // namespace headrace
