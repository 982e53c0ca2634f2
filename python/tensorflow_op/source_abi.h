// source_abi.h: what the TensorFlow op and the engine say to each other, in C.
//
// The op (headrace/_tf_op.so) is loaded by TensorFlow, the engine (headrace._core) by Python; neither links the other. An op
// receives the address of a HeadraceSource as an int64 tensor and calls through the pointers in it. No Python, no
// TensorFlow and no C++ type passes this border, so the two libraries need not be built alike.
//
// Ownership: a HeadraceSource stays readable until the process ends, also after close(), which makes every later call
// fail with kCancelled; an address kept in an old graph is therefore never dangling. What next() hands out belongs to the
// caller, who calls `release` once for each tensor it took and once for the slice.
// Concurrency: next() from one thread per replica at a time, different replicas concurrently; open() and close() from any.
#pragma once

#include <cstdint>

extern "C" {

/// First bytes of every HeadraceSource; changes with the layout of this file.
constexpr std::uint64_t kHeadraceSourceAbi = 0x3143525345434152;

enum HeadraceOutcome : std::int32_t { kHeadraceValue = 0, kHeadraceEnd = 1, kHeadraceFailure = 2 };

/// A dense, C-contiguous array on a 256-byte boundary. Strings: 24-byte TensorFlow headers of OFFSET type.
struct HeadraceTensor {
  std::int32_t dtype;  ///< headrace::DType
  std::int32_t rank;
  const std::int64_t* dims;  ///< until the slice is released
  void* data;
  std::uint64_t bytes;  ///< of the elements; for strings of the headers alone
  void* owner;
  void (*release)(void* owner);  ///< any thread, at any time, once
};

/// The answer to next() and open().
struct HeadraceSlice {
  HeadraceOutcome outcome;
  std::int32_t code;     ///< failure: headrace::StatusCode
  const char* text;      ///< failure: zero-terminated, until the slice is released
  std::int32_t seed[2];  ///< for the user's random ops: a pure function of (seed, epoch, batch, replica)
  std::int32_t count;
  const HeadraceTensor* tensors;  ///< `count` of them, until the slice is released
  std::int64_t source;            ///< open(): address of the new source
  void* owner;
  void (*release)(void* owner);  ///< once; leaves the tensors alone
};

struct HeadraceSource {
  std::uint64_t abi;
  void* self;
  /// Waits for the next slice of `replica`.
  void (*next)(void* self, std::int32_t replica, HeadraceSlice* slice);
  /// A new source with a cursor of its own over the same data.
  void (*open)(void* self, HeadraceSlice* slice);
  /// Stops the work behind the source and wakes its next(); idempotent.
  void (*close)(void* self);
};

}  // extern "C"
