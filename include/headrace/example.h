// Serialized tf.train.Examples and tensors without a pipeline: build one, parse many, look into one. Pure functions; any
// thread.
//
// What is parsed is borrowed for the call alone. `num_threads` (>= 1) counts the calling thread. Failures name the row in the
// input, the lowest that fails, and the key.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/batch.h"
#include "headrace/schema.h"
#include "headrace/status.h"

namespace headrace {

/// Builds one serialized Example; features appear in the order of the calls, lists are packed.
class ExampleBuilder {
 public:
  ExampleBuilder& add_int64(std::string_view key, std::span<const std::int64_t> values);
  ExampleBuilder& add_float(std::string_view key, std::span<const float> values);
  ExampleBuilder& add_bytes(std::string_view key, std::span<const std::string_view> values);
  /// The serialized Example.
  std::string build() const;

 private:
  std::string features_;
};

/// A serialized TensorProto with `data` (elements in native order) as its tensor_content.
Result<std::string> make_tensor_proto(DType dtype, const Shape& shape, std::span<const std::uint8_t> data);

/// Parses serialized Examples to one slice, as the pipeline's parse does. Records that lie one behind another in memory are
/// read where they are, others are copied first. A thread keeps up to 64 MiB of what results that are gone were made of, for the
/// next call.
Result<Slice> parse_example(std::span<const std::string_view> serialized, const Schema& schema, int num_threads = 1);

/// One Example: the columns of a batch of one, without its dimension. A VarLenFeature and a RaggedFeature without partitions
/// are dense, [values].
Result<Slice> parse_single_example(std::string_view serialized, const Schema& schema);

/// Serialized TensorProtos of `dtype`, all of one shape: a dense column [serialized.size(), *shape] without a name.
/// kResourceExhausted when they claim over 1 GiB more than they hold.
Result<Column> parse_tensor(std::span<const std::string_view> serialized, DType dtype, int num_threads = 1);

struct DecodeRawOptions {
  DType dtype = DType::kUint8;  ///< any but kBytes
  bool little_endian = true;    ///< byte order of the input
  std::optional<std::int64_t>
      fixed_length;  ///< bytes per row, a multiple of the element: longer rows are cut, others filled
                     ///< with zeros; nothing: all rows must have the same length
};

/// Byte strings that are the elements themselves: a dense column [bytes.size(), elements] without a name.
Result<Column> decode_raw(std::span<const std::string_view> bytes, const DecodeRawOptions& options,
                          int num_threads = 1);

/// One feature of an Example, whatever it holds.
struct ExampleFeature {
  std::string key;
  std::optional<DType> dtype;        ///< kInt64, kFloat32 or kBytes; nothing: the feature has no kind
  std::int64_t values = 0;           ///< in the list
  std::vector<std::string> strings;  ///< kBytes: the values
};

struct ExampleContent {
  std::vector<ExampleFeature> features;  ///< each key once, in the order of the record
  bool is_sequence = false;              ///< it has feature_lists: a SequenceExample, whose context `features` is
};

/// Everything in a serialized Example; for looking into data, not for speed.
Result<ExampleContent> read_example(std::string_view serialized);

struct TensorDescription {
  DType dtype = DType::kFloat32;
  Shape shape;
};

/// Type and shape of a serialized TensorProto; kSchemaMismatch when it is none.
Result<TensorDescription> describe_tensor(std::string_view serialized);

}  // namespace headrace
