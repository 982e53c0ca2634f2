// ProtoWriter: one protobuf message, field by field. Fields of the value 0 are written, too: readers tell them from missing ones.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/varints.h"
#include "base/wire.h"

namespace headrace {

class ProtoWriter {
 public:
  ProtoWriter& number(std::uint32_t field, std::int64_t value) {
    put_varint(field << 3, &bytes_);
    put_varint(static_cast<std::uint64_t>(value), &bytes_);
    return *this;
  }
  ProtoWriter& fixed64(std::uint32_t field, std::uint64_t value) {
    put_varint(field << 3 | 1, &bytes_);
    bytes_.resize(bytes_.size() + sizeof value);
    store_u64(bytes_.data() + bytes_.size() - sizeof value, value);
    return *this;
  }
  ProtoWriter& text(std::uint32_t field, std::string_view value) {
    put_varint(field << 3 | 2, &bytes_);
    put_varint(value.size(), &bytes_);
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return *this;
  }
  ProtoWriter& message(std::uint32_t field, const ProtoWriter& value) {
    return text(field, {reinterpret_cast<const char*>(value.bytes_.data()), value.bytes_.size()});
  }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace headrace
