// Slices for tests of devices, and a look at what has arrived.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/cuda_context.h"
#include "fake_cuda/testing.h"
#include "headrace/batch.h"
#include "tensor/buffer_pool.h"

namespace headrace::testing {

inline Device gpu(int index) { return {DeviceKind::kCuda, index, "/GPU:" + std::to_string(index)}; }

inline std::shared_ptr<const CudaContext> open_context(const FakeCuda& cuda, int index = 0) {
  return *CudaContext::open(cuda.driver(), gpu(index));
}

/// Batch `number`: a column "x" of `rows` int64 from 1000 * number on, and "y" of float32 in the same buffer behind it.
inline Slice number_slice(BufferPool& pool, std::int64_t number, std::int64_t rows) {
  const auto x_bytes = static_cast<std::size_t>((8 * rows + 255) / 256 * 256);
  const BufferPtr buffer = pool.acquire(x_bytes + static_cast<std::size_t>(4 * rows) + 1);
  Slice slice;
  slice.rows = rows;
  slice.batch_number = number;
  Column x{.name = "x", .values = {DType::kInt64, {rows}, buffer->data(), buffer}};
  Column y{.name = "y", .values = {DType::kFloat32, {rows}, buffer->data() + x_bytes, buffer}};
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t value = 1000 * number + i;
    const auto half = static_cast<float>(value) / 2;
    std::memcpy(x.values.data + 8 * i, &value, 8);
    std::memcpy(y.values.data + 4 * i, &half, 4);
  }
  slice.columns.push_back(std::move(x));
  slice.columns.push_back(std::move(y));
  return slice;
}

/// The bytes of a tensor, wherever they are.
inline std::vector<std::uint8_t> bytes_of(const FakeCuda& cuda, const Tensor& tensor) {
  if (tensor.buffer->device() != nullptr) return cuda.read(tensor.data, tensor.bytes());
  return {tensor.data, tensor.data + tensor.bytes()};
}

/// The number of the batch, -1 when it is not what number_slice() made.
inline std::int64_t number_in(const FakeCuda& cuda, const Slice& slice) {
  BufferPool pool;
  const Slice expected = number_slice(pool, slice.batch_number, slice.rows);
  for (std::size_t c = 0; c < expected.columns.size(); ++c) {
    if (bytes_of(cuda, slice.columns[c].values) != bytes_of(cuda, expected.columns[c].values)) return -1;
  }
  return slice.batch_number;
}

}  // namespace headrace::testing
