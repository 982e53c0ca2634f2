// The numbers of a TensorProto, and which typed field holds the values of which dtype. Constant tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "headrace/types.h"

namespace headrace {

/// Field numbers of TensorProto, TensorShapeProto and its Dim.
struct TensorFields {
  static constexpr std::uint32_t kDtype = 1;
  static constexpr std::uint32_t kShape = 2;
  static constexpr std::uint32_t kContent = 4;
  static constexpr std::uint32_t kFirstTyped = 5;
  static constexpr std::uint32_t kStringVal = 8;
  static constexpr std::uint32_t kResourceHandleVal = 14;
  static constexpr std::uint32_t kVariantVal = 15;
  static constexpr std::uint32_t kLastTyped = 18;
  static constexpr std::uint32_t kDim = 2;
  static constexpr std::uint32_t kUnknownRank = 3;
  static constexpr std::uint32_t kDimSize = 1;
};

/// Ours for TensorFlow's DataType number; nothing for those we do not have.
std::optional<DType> dtype_of_tensorflow(std::uint64_t number);
/// TensorFlow's number for ours.
std::uint32_t tensorflow_number(DType dtype);
/// TensorFlow's name of a DataType number, such as "qint8"; "" when there is none.
std::string_view tensorflow_name(std::uint64_t number);

/// The typed field that holds the values of `dtype`.
std::uint32_t typed_field_of(DType dtype);
/// Whether `number` is a typed field (float_val, …), and its name.
bool is_typed_field(std::uint32_t number);
std::string_view typed_field_name(std::uint32_t number);
/// Whether a typed field holds messages: resource handles, variants.
bool is_message_field(std::uint32_t number);

}  // namespace headrace
