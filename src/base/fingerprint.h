// Fingerprint64 of FarmHash: a hash that is the same on every machine and for ever, the one behind TensorFlow's
// tf.strings.to_hash_bucket_fast and tf.fingerprint. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace headrace {

std::uint64_t fingerprint64(std::string_view text);

}  // namespace headrace
