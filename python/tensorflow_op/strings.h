// strings.h: string tensors that own their strings.
//
// The engine's strings (docs/design/batch_layout.md) lie behind headers of OFFSET or VIEW type. TensorFlow reads those as they
// are, but where an op copies a string from one tensor to another (slices, gathers, lists, unbatch, a shuffle buffer) it copies
// such a header as a view, which nothing keeps alive. So TensorFlow gets strings of its two types that are copied whole.
#pragma once

#include "source_abi.h"
#include "tf_c_api.h"

namespace headrace::tf {

/// A string tensor with copies of the strings of `from`, which is released; null when there is no memory for them.
TF_Tensor* own_strings(const Api& api, const HeadraceTensor& from);

}  // namespace headrace::tf
