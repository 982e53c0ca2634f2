// What a transform takes and what comes out: dtype and shape along a list. Pure; column_type() of schema.h is the whole walk.
#pragma once

#include <cstdint>
#include <string_view>

#include "headrace/schema.h"

namespace headrace {

/// Its name in Python, such as "one_hot".
std::string_view transform_name(const Transform& transform);

/// bool counts as neither.
bool is_integer(DType dtype);
bool is_real(DType dtype);  ///< float32 or float64, what arithmetic takes

/// The column before its transforms.
ColumnType plain_type(const Feature& feature);
/// Size of the last dimension of a record's values, which lists of constants follow; 0 when there is none.
std::int64_t last_dimension(const Feature& feature, const ColumnType& type);

/// Checks feature.transforms[place] against what stands before it, and makes `type` what comes out.
Status apply_to_type(const Feature& feature, std::size_t place, ColumnType* type);
/// A kInvalidArgument that names feature and transform.
Status refuse_transform(const Feature& feature, std::size_t place, std::string_view reason);

}  // namespace headrace
