// The plain loop that a good programmer writes for records that are known to be well-formed: one pass over each Example, keys
// expected in the order of the last record and looked up otherwise, values appended to recycled columns of 256 rows. One
// thread; no check of types, counts or lengths, no unknown fields, no defaults. Arguments: seconds, warm-up seconds, a file of
// records (each a uint32 length and its bytes), the wanted keys. Prints records, wall seconds, CPU seconds.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "benchmarks/harness/loop_clock.h"

namespace {

constexpr int kRows = 256;
constexpr std::uint8_t kInt64List = 0x1a;

std::uint64_t varint(const std::uint8_t*& at) {
  std::uint64_t value = *at & 0x7f;
  for (int shift = 7; *at++ & 0x80; shift += 7) value |= static_cast<std::uint64_t>(*at & 0x7f) << shift;
  return value;
}

struct Column {
  std::vector<std::uint8_t> bytes;
  std::size_t used = 0;
  std::vector<std::size_t> ends;

  std::uint8_t* room(std::size_t size) {
    if (bytes.size() < used + size) bytes.resize((used + size) * 2);
    return bytes.data() + used;
  }
};

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& keys) : columns_(keys.size()) {
    for (std::size_t i = 0; i < keys.size(); ++i) places_.emplace(keys[i], i);
  }

  void parse(const std::uint8_t* at) {
    std::size_t entry = 0;
    ++at;
    const std::uint64_t size = varint(at);
    for (const std::uint8_t* end = at + size; at < end; ++entry) {
      ++at;
      const std::uint64_t entry_bytes = varint(at);
      const std::uint8_t* next = at + entry_bytes;
      ++at;
      const std::uint64_t key_bytes = varint(at);
      const std::string_view key(reinterpret_cast<const char*>(at), key_bytes);
      at += key_bytes;
      if (Column* column = find(key, entry)) read(at, next, *column);
      at = next;
    }
    if (++rows_ < kRows) return;
    rows_ = 0;
    for (Column& column : columns_) {
      column.used = 0;
      column.ends.clear();
    }
  }

 private:
  Column* find(std::string_view key, std::size_t entry) {
    if (entry >= layout_.size()) layout_.resize(entry + 1);
    auto& [expected, column] = layout_[entry];
    if (expected != key) {
      expected = key;
      const auto place = places_.find(expected);
      column = place == places_.end() ? nullptr : &columns_[place->second];
    }
    return column;
  }

  // `at`: the value of the entry, behind its key.
  static void read(const std::uint8_t* at, const std::uint8_t* end, Column& column) {
    ++at;
    if (varint(at) > 0) {
      const std::uint8_t kind = *at++;
      if (varint(at) > 0) {
        ++at;
        varint(at);
        append(kind, at, end, column);
      }
    }
    column.ends.push_back(column.used);
  }

  static void append(std::uint8_t kind, const std::uint8_t* at, const std::uint8_t* end, Column& column) {
    const auto size = static_cast<std::size_t>(end - at);
    if (kind != kInt64List) {
      std::memcpy(column.room(size), at, size);
      column.used += size;
      return;
    }
    std::uint8_t* to = column.room(size * 8);
    while (at < end) {
      const std::uint64_t value = varint(at);
      std::memcpy(to, &value, 8);
      to += 8;
    }
    column.used = static_cast<std::size_t>(to - column.bytes.data());
  }

  std::vector<Column> columns_;
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::pair<std::string, Column*>> layout_;
  int rows_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 5) return 2;
  std::ifstream file(arguments[3], std::ios::binary);
  const std::vector<char> data((std::istreambuf_iterator<char>(file)), {});
  std::vector<const std::uint8_t*> records;
  for (std::size_t at = 0; at + 4 <= data.size();) {
    std::uint32_t size;
    std::memcpy(&size, data.data() + at, 4);
    records.push_back(reinterpret_cast<const std::uint8_t*>(data.data()) + at + 4);
    at += 4 + size;
  }
  if (records.empty()) return 3;
  Parser parser(std::vector<std::string>(arguments + 4, arguments + count));
  std::size_t next = 0;
  const auto run = [&](double seconds) {
    std::int64_t parsed = 0;
    for (const double end = now_s() + seconds; now_s() < end; parsed += kRows) {
      for (int row = 0; row < kRows; ++row) {
        parser.parse(records[next]);
        next = (next + 1) % records.size();
      }
    }
    return parsed;
  };
  run(std::atof(arguments[2]));
  const double cpu = cpu_s();
  const double wall = now_s();
  const std::int64_t parsed = run(std::atof(arguments[1]));
  std::printf("%lld %.6f %.6f\n", static_cast<long long>(parsed), now_s() - wall, cpu_s() - cpu);
  return 0;
}
