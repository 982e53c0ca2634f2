// The binary layout of DLPack (https://dmlc.github.io/dlpack), both the classic form and version 1.0. Constants and plain
// structs only; the layout is frozen by its specification.
#pragma once

#include <cstdint>

namespace headrace::python::dlpack {

constexpr std::int32_t kDeviceCpu = 1;
constexpr std::int32_t kDeviceCuda = 2;
constexpr std::uint8_t kInt = 0;
constexpr std::uint8_t kUInt = 1;
constexpr std::uint8_t kFloat = 2;
constexpr std::uint8_t kBfloat = 4;
constexpr std::uint8_t kComplex = 5;
constexpr std::uint8_t kBool = 6;
constexpr std::uint8_t kFloat8E4m3b11fnuz = 9;
constexpr std::uint8_t kFloat8E4m3fn = 10;
constexpr std::uint8_t kFloat8E4m3fnuz = 11;
constexpr std::uint8_t kFloat8E5m2 = 12;
constexpr std::uint8_t kFloat8E5m2fnuz = 13;

struct Device {
  std::int32_t type;
  std::int32_t id;
};

/// Streams of __dlpack__ for CUDA: 1 is the legacy default stream, 2 the one of the calling thread, larger ones are handles.
constexpr std::int64_t kStreamAmbiguous = 0;
constexpr std::int64_t kStreamUnsynchronised = -1;

struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};

struct ManagedTensorVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedTensorVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};

constexpr std::uint64_t kFlagIsCopied = 2;

}  // namespace headrace::python::dlpack
