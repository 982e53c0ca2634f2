// Dense columns: one feature of one record, from the wire to its final slot.
//
// Pure functions on borrowed bytes; each writes exactly step.bytes at `slot` or fails (the slot's content is then
// arbitrary). The caller has checked that the list is there and of the right kind.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "example/tensor_proto.h"
#include "tensor/column_plan.h"
#include "tensor/copy.h"
#include "tensor/parse_scratch.h"

namespace headrace {

/// A fixed number of int64 or float32 values, any form of list: values found, or -1 when malformed.
std::int64_t write_int64s(const ColumnStep& step, const FeatureView& list, std::uint8_t* slot);
std::int64_t write_floats(const ColumnStep& step, const FeatureView& list, std::uint8_t* slot, CopyMode mode);

/// The list as float32 in the record, possibly unaligned, when it is one packed chunk of step.count values; else null.
const std::uint8_t* packed_floats(const ColumnStep& step, const FeatureView& list);
/// A fixed number of strings as std::string_view into the record; the same outcomes.
std::int64_t write_strings(const ColumnStep& step, const FeatureView& list, std::uint8_t* slot);

/// The one byte string of `list`; fails when there are none or several.
Status read_single_bytes(const Feature& feature, const FeatureView& list, std::span<const std::uint8_t>* value);

/// A TensorProto of the feature's dtype and shape; `view` is scratch.
Status write_tensor(const Feature& feature, const ColumnStep& step, const FeatureView& list, std::uint8_t* slot,
                    CopyMode mode, TensorProtoView* view);
/// The one byte string of `list` as a string header of VIEW type, which points into the record.
Status write_view(const Feature& feature, const FeatureView& list, std::uint8_t* slot);

/// Reads the proto and checks its dtype. `elements` are those of the feature's shape, -1 when it has unknown dimensions.
Status read_tensor(const Feature& feature, std::span<const std::uint8_t> proto, std::int64_t elements,
                   TensorProtoView* view);
/// The failure of a proto that was read and has another shape than the feature.
Status wrong_shape(const Feature& feature, const TensorProtoView& view);
/// Reads the proto and checks dtype and shape against the feature.
Status check_tensor(const Feature& feature, std::span<const std::uint8_t> proto, std::int64_t elements,
                    TensorProtoView* view);

/// The strings of a TensorProto as std::string_view into the record.
Status write_string_tensor(const Feature& feature, const ColumnStep& step, const FeatureView& list, std::uint8_t* slot,
                           ParseScratch& scratch);

/// The elements themselves, as decode_raw reads them: copies whole elements to native order.
void copy_raw(const Feature& feature, std::uint8_t* to, std::span<const std::uint8_t> value, CopyMode mode);
/// The failure of raw bytes that are not as many as `expected` says.
Status wrong_raw_size(const Feature& feature, std::span<const std::uint8_t> value, std::string expected);
Status write_raw(const Feature& feature, const ColumnStep& step, const FeatureView& list, std::uint8_t* slot,
                 CopyMode mode);

}  // namespace headrace
