// Reader of a serialized tensorflow.TensorProto. SEMANTICS.md section 8 is the contract.
//
// Pure functions; nothing is allocated in proportion to a claimed shape before the bytes for it are known to be there.
// A message without tensor_content may fill its shape from one value; such a fill is limited to 1 GiB.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/status.h"
#include "headrace/types.h"

namespace headrace {

/// Walks the message once; borrowed from `proto`.
struct TensorProtoView {
  DType dtype = DType::kFloat32;
  int rank = 0;
  std::int64_t dims[8] = {};            ///< the first 8; larger ranks are in `more_dims`
  std::vector<std::int64_t> more_dims;  ///< empty in the usual case
  std::int64_t elements = 0;            ///< product of the dims, checked
  std::string_view content;             ///< tensor_content, when it counts
  bool has_content = false;
  std::span<const std::uint8_t> message;  ///< the whole proto, for the typed fields

  std::int64_t dim(int i) const { return i < 8 ? dims[i] : more_dims[static_cast<std::size_t>(i - 8)]; }
  Shape shape() const;
};

/// Fails with kSchemaMismatch (no where): malformed, unknown dtype, bad dimension, tensor_content of the wrong size, …
/// `view` may be used again and again.
Status read_tensor_proto(std::span<const std::uint8_t> proto, TensorProtoView* view);

/// Writes the elements (native order) to `out`, which has room for view.elements of view.dtype. Not for kBytes.
/// tensor_content, typed field, or typed field whose last value fills the rest.
Status decode_tensor_proto(const TensorProtoView& view, std::uint8_t* out);

/// Fails as decode_tensor_proto() would, and writes nothing.
Status check_tensor_values(const TensorProtoView& view);

/// The strings of a kBytes tensor, borrowed: `out` gets those that are there, at least one and at most view.elements (none
/// for a tensor without elements). When they are fewer, the last one stands for the rest, too.
Status decode_string_tensor(const TensorProtoView& view, std::vector<std::string_view>* out);

}  // namespace headrace
