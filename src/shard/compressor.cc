#include "shard/compressor.h"

#include <string>

namespace headrace {
namespace {

struct Levels {
  int least;
  int most;
  int usual;
};
constexpr Levels kZlibLevels{0, 9, 6};
constexpr Levels kZstdLevels{1, 19, 3};

Result<int> level_of(Compression format, std::optional<int> level) {
  const Levels& levels = format == Compression::kZstd ? kZstdLevels : kZlibLevels;
  const int wanted = level.value_or(levels.usual);
  if (wanted >= levels.least && wanted <= levels.most) return wanted;
  return invalid_argument("level = " + std::to_string(wanted) + " is not in " + std::to_string(levels.least) + " … " +
                          std::to_string(levels.most));
}

}  // namespace

Result<std::unique_ptr<Compressor>> make_compressor(Compression format, std::optional<int> level) {
  HEADRACE_ASSIGN_OR_RETURN(const int chosen, level_of(format, level));
  std::unique_ptr<Compressor> compressor;
  switch (format) {
    case Compression::kAuto:
    case Compression::kNone:
      return compressor;
    case Compression::kGzip:
    case Compression::kZlib:
      compressor = make_zlib_compressor(format, chosen);
      break;
    case Compression::kZstd:
      compressor = make_zstd_compressor(chosen);
      break;
    case Compression::kSnappy:
      compressor = make_snappy_compressor();
      break;
  }
  if (compressor != nullptr) return compressor;
  if (!has_compression(format)) return lacks_compression(format);
  return Status(StatusCode::kResourceExhausted, "no memory to compress");
}

}  // namespace headrace
