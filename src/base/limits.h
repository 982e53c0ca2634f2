// How much memory the bytes of one record may ask for beyond their own size. Constants.
//
// Shapes, fills and padding let a few bytes stand for many. Each limit is far above what real data need, and what exceeds it
// is an error that names it. A fuzzer's build has lower ones, so that it spends its time on finding paths, not on memset.
#pragma once

#include <cstdint>

namespace headrace {

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
constexpr std::int64_t kLimitDivisor = 4096;
#else
constexpr std::int64_t kLimitDivisor = 1;
#endif

/// Bytes of one tensor that are not in its TensorProto: the last value, or 0, fills the shape.
constexpr std::int64_t kMaxFillBytes = (std::int64_t{1} << 30) / kLimitDivisor;
/// Rows of one tensor that hold no elements; every one may become a row split.
constexpr std::int64_t kMaxEmptyRows = (std::int64_t{1} << 20) / kLimitDivisor;
/// Bytes of one column of a slice that are in no record: padding, fills, splits of empty rows.
constexpr std::int64_t kMaxInventedBytes = (std::int64_t{4} << 30) / kLimitDivisor;
/// Height and width of an image: a decode holds rows of it in several forms, and weights for each of its rows and columns.
constexpr std::int64_t kMaxImageSide = std::int64_t{1} << 20;
/// Scans of one progressive JPEG; each goes over all of its pixels, encoders make about ten.
constexpr int kMaxJpegScans = 500;

}  // namespace headrace
