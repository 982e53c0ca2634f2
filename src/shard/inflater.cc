#include "shard/inflater.h"

namespace headrace {

std::unique_ptr<Inflater> make_inflater(Compression format) {
  if (format == Compression::kZstd) return make_zstd_inflater();
  if (format == Compression::kSnappy) return make_snappy_inflater();
  std::unique_ptr<Inflater> inflater = make_isal_inflater(format);
  if (inflater == nullptr) inflater = make_zlib_inflater(format);
  return inflater;
}

}  // namespace headrace
