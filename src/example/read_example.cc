// read_example(), describe_tensor(): what is inside bytes that nobody has a schema for yet.
#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "example/example_reader.h"
#include "example/list_decoder.h"
#include "example/tensor_proto.h"
#include "headrace/example.h"

namespace headrace {
namespace {

std::vector<std::string> distinct_keys(std::span<const std::uint8_t> record) {
  std::vector<std::string> keys = ExampleReader::list_keys(record, SIZE_MAX);
  std::set<std::string> seen;
  std::erase_if(keys, [&seen](const std::string& key) { return !seen.insert(key).second; });
  return keys;
}

/// Values of the list, or -1 when it is malformed.
std::int64_t read_list(const FeatureView& list, ExampleFeature* feature) {
  switch (list.kind) {
    case ListKind::kAbsent:
      return 0;
    case ListKind::kInt64:
      feature->dtype = DType::kInt64;
      return count_int64_list(list);
    case ListKind::kFloat:
      feature->dtype = DType::kFloat32;
      return count_float_list(list);
    case ListKind::kBytes:
      break;
  }
  feature->dtype = DType::kBytes;
  std::int64_t bytes = 0;
  const std::int64_t count = count_bytes_list(list, &bytes);
  if (count <= 0) return count;
  std::vector<std::string_view> strings(static_cast<std::size_t>(count));
  (void)decode_bytes_list(list, strings.data(), count);
  feature->strings.assign(strings.begin(), strings.end());
  return count;
}

}  // namespace

Result<ExampleContent> read_example(std::string_view serialized) {
  std::vector<std::uint8_t> padded(serialized.size() + kRecordPadding);
  std::copy(serialized.begin(), serialized.end(), padded.begin());
  const std::span<const std::uint8_t> record(padded.data(), serialized.size());

  std::vector<std::string> keys = distinct_keys(record);
  std::vector<FeatureView> views(keys.size());
  ExampleReader reader(std::make_shared<const KeySet>(keys));
  HEADRACE_RETURN_IF_ERROR(reader.read(record, views));
  ExampleContent content;
  content.is_sequence = reader.saw_feature_lists();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ExampleFeature& feature = content.features.emplace_back();
    feature.key = std::move(keys[i]);
    feature.values = read_list(views[i], &feature);
    if (feature.values < 0) {
      Where where;
      where.key = feature.key;
      return schema_mismatch("Can't parse serialized Example.", std::move(where));
    }
  }
  return content;
}

Result<TensorDescription> describe_tensor(std::string_view serialized) {
  TensorProtoView view;
  HEADRACE_RETURN_IF_ERROR(
      read_tensor_proto({reinterpret_cast<const std::uint8_t*>(serialized.data()), serialized.size()}, &view));
  TensorDescription description;
  description.dtype = view.dtype;
  for (int d = 0; d < view.rank; ++d) description.shape.push_back(view.dim(d));
  return description;
}

}  // namespace headrace
