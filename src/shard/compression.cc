#include "shard/compression.h"

namespace headrace {

const char* compression_name(Compression compression) {
  static constexpr const char* kNames[] = {"auto", "none", "gzip", "zlib", "zstd", "snappy"};
  return kNames[static_cast<int>(compression)];
}

bool has_compression(Compression compression) {
#if !defined(HEADRACE_HAVE_ZSTD)
  if (compression == Compression::kZstd) return false;
#endif
#if !defined(HEADRACE_HAVE_SNAPPY)
  if (compression == Compression::kSnappy) return false;
#endif
  return compression <= Compression::kSnappy;
}

Status lacks_compression(Compression compression) {
  return invalid_argument(std::string("this build of headrace has no ") + compression_name(compression));
}

}  // namespace headrace
