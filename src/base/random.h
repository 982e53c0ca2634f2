// Counter-based random numbers: a pure function of (seed, stream, counter), so that any position of a stream can be
// reached at once and no generator state is saved. Part of the frozen stream (`stream_version` 1): never change the values.
#pragma once

#include <cstdint>

namespace headrace {

/// Bijective 64-bit mixer (the finaliser of SplitMix64).
inline std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ULL;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBULL;
  x ^= x >> 31;
  return x;
}

/// A key for one stream of numbers, such as one epoch of one shuffle.
inline std::uint64_t random_key(std::uint64_t seed, std::uint64_t stream) {
  return mix64(mix64(seed + 0x9E3779B97F4A7C15ULL) + 0x9E3779B97F4A7C15ULL * (stream + 1));
}

/// Number `counter` of the stream `key`.
inline std::uint64_t random_u64(std::uint64_t key, std::uint64_t counter) {
  return mix64(mix64(key + 0x9E3779B97F4A7C15ULL * (counter + 1)) ^ key);
}

/// Number `counter` of the stream `key`, in [0, n). n >= 1; the bias is below n / 2^64.
inline std::uint64_t random_below(std::uint64_t key, std::uint64_t counter, std::uint64_t n) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(random_u64(key, counter)) * n) >> 64);
}

}  // namespace headrace
