// The bound of a parser that copies: the values of each record, memory to memory, into two recycled batches. One thread, no
// parsing. Arguments: seconds, warm-up seconds, "plain" or "streaming" stores, bytes of the values of a record, rows of a
// batch, a file of records (each a uint32 length and its bytes). Prints records, wall seconds, CPU seconds.
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "benchmarks/harness/loop_clock.h"

namespace {

void copy_streaming(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
  const std::size_t head = std::min(bytes, (16 - reinterpret_cast<std::uintptr_t>(to) % 16) % 16);
  std::memcpy(to, from, head);
  std::size_t at = head;
  for (; at + 16 <= bytes; at += 16) {
    const __m128i word = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at));
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), word);
  }
  std::memcpy(to + at, from + at, bytes - at);
}

struct Loop {
  bool streaming;
  std::size_t value_bytes;
  std::size_t rows;
  std::vector<const std::uint8_t*> values;
  std::vector<std::uint8_t> batches[2];
  std::size_t next = 0;

  std::int64_t run(double seconds) {
    std::int64_t records = 0;
    int current = 0;
    for (const double end = now_s() + seconds; now_s() < end; current = 1 - current) {
      std::uint8_t* to = batches[current].data();
      for (std::size_t row = 0; row < rows; ++row, to += value_bytes) {
        if (streaming) {
          copy_streaming(to, values[next], value_bytes);
        } else {
          std::memcpy(to, values[next], value_bytes);
        }
        next = (next + 1) % values.size();
      }
      if (streaming) _mm_sfence();
      records += static_cast<std::int64_t>(rows);
    }
    return records;
  }
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 7) return 2;
  std::ifstream file(arguments[6], std::ios::binary);
  const std::vector<char> data((std::istreambuf_iterator<char>(file)), {});
  Loop loop{std::string(arguments[3]) == "streaming",
            std::strtoull(arguments[4], nullptr, 10),
            std::strtoull(arguments[5], nullptr, 10),
            {},
            {}};
  for (std::size_t at = 0; at + 4 <= data.size();) {
    std::uint32_t size;
    std::memcpy(&size, data.data() + at, 4);
    if (size < loop.value_bytes) return 3;
    const std::size_t before = (size - loop.value_bytes) / 2;
    loop.values.push_back(reinterpret_cast<const std::uint8_t*>(data.data()) + at + 4 + before);
    at += 4 + size;
  }
  if (loop.values.empty()) return 3;
  for (auto& batch : loop.batches) batch.assign(loop.value_bytes * loop.rows, 1);
  loop.run(std::atof(arguments[2]));
  const double cpu = cpu_s();
  const double wall = now_s();
  const std::int64_t records = loop.run(std::atof(arguments[1]));
  std::printf("%lld %.6f %.6f\n", static_cast<long long>(records), now_s() - wall, cpu_s() - cpu);
  return 0;
}
