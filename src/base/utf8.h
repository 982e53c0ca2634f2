// Text that may be shown to a person: valid UTF-8 without control characters. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace headrace {

/// `bytes` with every byte that is not part of valid UTF-8, and every control character, written as \xNN; cut to
/// `max_bytes` at a character border, with "..." when something was cut.
std::string printable_utf8(std::string_view bytes, std::size_t max_bytes);

}  // namespace headrace
