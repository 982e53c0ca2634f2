// The plain loop that bounds a copying design on this machine: pread -> CRC -> copy into recycled arenas. One thread, no
// order, no parse, no Python, no error handling beyond the checksum. Arguments: seconds, warm-up seconds, shard files.
// Prints one line: records, wall seconds, CPU seconds, then the same with every byte of each arena read as well.
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "benchmarks/harness/loop_clock.h"

#if defined(WITH_ISAL)
extern "C" unsigned int crc32_iscsi(unsigned char* data, int size, unsigned int crc);
#else
#include <nmmintrin.h>
#endif

namespace {

constexpr std::size_t kBlockBytes = 512 << 10;
constexpr int kRowsPerArena = 256;
constexpr int kArenas = 2;

std::uint32_t masked_crc(const std::uint8_t* data, std::size_t size) {
#if defined(WITH_ISAL)
  const std::uint32_t crc = ~crc32_iscsi(const_cast<std::uint8_t*>(data), static_cast<int>(size), 0xFFFFFFFFu);
#else
  std::uint64_t state = 0xFFFFFFFFu;
  for (; size >= 8; size -= 8, data += 8) {
    std::uint64_t word;
    std::memcpy(&word, data, 8);
    state = _mm_crc32_u64(state, word);
  }
  for (; size > 0; --size, ++data) {
    state = _mm_crc32_u8(static_cast<std::uint32_t>(state), *data);
  }
  const std::uint32_t crc = ~static_cast<std::uint32_t>(state);
#endif
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

struct Arena {
  std::vector<std::uint8_t> bytes;
  std::size_t used = 0;
  int rows = 0;
};

class Loop {
 public:
  Loop(std::vector<const char*> shards) : shards_(std::move(shards)), block_(kBlockBytes), arenas_(kArenas) {}

  // Reads for that long, and until `least` records; the number of records.
  std::int64_t run(double seconds, bool touch, std::int64_t least = 0) {
    touch_ = touch;
    records_ = 0;
    const double end = now_s() + seconds;
    while (now_s() < end || records_ < least) {
      const int file = open(shards_[next_shard_], O_RDONLY);
      next_shard_ = (next_shard_ + 1) % shards_.size();
      if (file < 0) std::exit(1);
      shard(file, end, least);
      close(file);
    }
    return records_;
  }

  std::uint64_t sum() const { return sum_; }

 private:
  void shard(int file, double end, std::int64_t least) {
    std::size_t filled = 0;
    off_t offset = 0;
    for (;;) {
      const ssize_t got = pread(file, block_.data() + filled, block_.size() - filled, offset);
      if (got <= 0) return;
      offset += got;
      filled += static_cast<std::size_t>(got);
      const std::size_t taken = frame(filled);
      std::memmove(block_.data(), block_.data() + taken, filled - taken);
      filled -= taken;
      if (now_s() >= end && records_ >= least) return;
    }
  }

  // Takes all whole records of the block; the bytes they span.
  std::size_t frame(std::size_t filled) {
    std::size_t at = 0;
    while (filled - at >= 12) {
      std::uint64_t size;
      std::uint32_t crc;
      std::memcpy(&size, block_.data() + at, 8);
      if (filled - at < size + 16) {
        if (block_.size() < size + 16) block_.resize(size + 16);
        break;
      }
      std::memcpy(&crc, block_.data() + at + 8, 4);
      if (masked_crc(block_.data() + at, 8) != crc) std::exit(2);
      std::memcpy(&crc, block_.data() + at + 12 + size, 4);
      if (masked_crc(block_.data() + at + 12, size) != crc) std::exit(2);
      deliver(block_.data() + at + 12, size);
      at += size + 16;
    }
    return at;
  }

  void deliver(const std::uint8_t* record, std::size_t size) {
    Arena& arena = arenas_[current_];
    if (arena.bytes.size() < arena.used + size) arena.bytes.resize((arena.used + size) * 3 / 2);
    std::memcpy(arena.bytes.data() + arena.used, record, size);
    arena.used += size;
    ++records_;
    if (++arena.rows < kRowsPerArena) return;
    if (touch_) read(arena);
    current_ = (current_ + 1) % kArenas;
    arenas_[current_].used = 0;
    arenas_[current_].rows = 0;
  }

  void read(const Arena& arena) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i + 8 <= arena.used; i += 8) {
      std::uint64_t word;
      std::memcpy(&word, arena.bytes.data() + i, 8);
      sum += word;
    }
    sum_ += sum;
  }

  std::vector<const char*> shards_;
  std::vector<std::uint8_t> block_;
  std::vector<Arena> arenas_;
  std::size_t next_shard_ = 0;
  int current_ = 0;
  bool touch_ = false;
  std::int64_t records_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  const double seconds = std::atof(arguments[1]);
  Loop loop(std::vector<const char*>(arguments + 3, arguments + count));
  // Twice around, so that no arena grows any more.
  loop.run(std::atof(arguments[2]), true, 2 * kArenas * kRowsPerArena);
  for (const bool touch : {false, true}) {
    const double cpu = cpu_s();
    const double wall = now_s();
    const std::int64_t records = loop.run(seconds, touch);
    std::printf("%lld %.6f %.6f ", static_cast<long long>(records), now_s() - wall, cpu_s() - cpu);
  }
  std::printf("%llu\n", static_cast<unsigned long long>(loop.sum()));
  return 0;
}
