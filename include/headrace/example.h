// Serialized tf.train.Examples without a pipeline: build one, parse many. Pure functions; any thread.
#pragma once

#include <cstdint>
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

/// Parses serialized Examples to one slice, as the pipeline's parse does. The failure names row and key.
Result<Slice> parse_example(std::span<const std::string_view> serialized, const Schema& schema, int num_threads = 1);

}  // namespace headrace
