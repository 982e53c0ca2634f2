// Reads protobuf messages field by field, by protobuf's rules: the careful way, for everything but the hot forms.
//
// Tags and lengths may be varints of up to 10 bytes, groups are skipped when properly closed and at most 100 deep. Field
// number 0, wire types 6 and 7, a lone end of group and anything that runs past the end are malformed. Pure functions.
#pragma once

#include <cstdint>
#include <span>

namespace headrace {

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kGroup = 3, kFixed32 = 5 };

/// One field; a group has neither value nor bytes. Borrowed from the message.
struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;              ///< kVarint, kFixed64, kFixed32
  std::span<const std::uint8_t> bytes;  ///< kBytes: the content

  bool is(std::uint32_t wanted_number, WireType wanted_type) const {
    return number == wanted_number && type == wanted_type;
  }
};

class FieldReader {
 public:
  explicit FieldReader(std::span<const std::uint8_t> message)
      : at_(message.data()), end_(message.data() + message.size()) {}

  /// True: `field` holds the next one. False: the message is used up, or malformed().
  bool next(WireField* field);
  bool malformed() const { return malformed_; }
  /// The byte behind the last field.
  const std::uint8_t* position() const { return at_; }

 private:
  bool fail();

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool malformed_ = false;
};

/// Whether these bytes are whole fields, one behind another.
bool is_message(std::span<const std::uint8_t> bytes);

}  // namespace headrace
