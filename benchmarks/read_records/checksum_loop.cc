// The two bounds of checking records: reading the bytes of cached files and checksumming them in pieces of the size of a record, and
// checksumming one such piece that stays in the cache, both with headrace's own CRC-32C. No framing, nothing is kept.
// Arguments: seconds, bytes of a record, shard files. Prints pieces, wall seconds and CPU seconds of the first and of the second.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/checksum.h"
#include "benchmarks/harness/loop_clock.h"

namespace {

constexpr std::size_t kBlockBytes = 256 << 10;

class Loop {
 public:
  Loop(std::size_t piece, std::vector<const char*> shards)
      : piece_(piece), shards_(std::move(shards)), block_(std::max(kBlockBytes / piece, std::size_t{1}) * piece) {}

  std::int64_t read(double seconds) {
    std::int64_t pieces = 0;
    const double end = now_s() + seconds;
    while (now_s() < end) {
      for (const char* shard : shards_) pieces += read_file(shard);
    }
    return pieces;
  }

  std::int64_t check(double seconds) {
    std::int64_t pieces = 0;
    const double end = now_s() + seconds;
    while (now_s() < end) {
      for (int i = 0; i < 1000; ++i) sum_ += headrace::crc32c(block_.data(), piece_);
      pieces += 1000;
    }
    return pieces;
  }

  std::uint32_t sum() const { return sum_; }

 private:
  std::int64_t read_file(const char* path) {
    const int file = open(path, O_RDONLY);
    if (file < 0) std::exit(1);
    std::int64_t pieces = 0;
    ssize_t got = 1;
    for (off_t offset = 0; got > 0; offset += got) {
      got = pread(file, block_.data(), block_.size(), offset);
      for (ssize_t at = 0; at + static_cast<ssize_t>(piece_) <= got; at += static_cast<ssize_t>(piece_), ++pieces) {
        sum_ += headrace::crc32c(block_.data() + at, piece_);
      }
    }
    close(file);
    return pieces;
  }

  const std::size_t piece_;
  const std::vector<const char*> shards_;
  std::vector<std::uint8_t> block_;
  std::uint32_t sum_ = 0;
};

void report(std::int64_t pieces, double wall, double cpu) {
  std::printf("%lld %.6f %.6f ", static_cast<long long>(pieces), now_s() - wall, cpu_s() - cpu);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  const double seconds = std::atof(arguments[1]);
  Loop loop(std::strtoull(arguments[2], nullptr, 10), std::vector<const char*>(arguments + 3, arguments + count));
  loop.read(0.1);  // the files are in the page cache
  double wall = now_s();
  double cpu = cpu_s();
  const std::int64_t read = loop.read(seconds);
  report(read, wall, cpu);
  wall = now_s();
  cpu = cpu_s();
  const std::int64_t checked = loop.check(seconds);
  report(checked, wall, cpu);
  std::printf("%u\n", loop.sum());
  return 0;
}
