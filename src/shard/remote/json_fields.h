// The few fields that answers in JSON are asked for. Pure functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

/// The object in `text`; an empty one when there is none.
inline nlohmann::json parse_object(std::string_view text) {
  nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  return value.is_object() ? value : nlohmann::json::object();
}

/// A field's text; empty when it is not there or not text.
inline std::string text_field(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

inline std::int64_t number_field(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

/// "2026-11-30T12:00:00Z", with or without a fraction.
std::optional<std::chrono::system_clock::time_point> parse_time(const std::string& text);

}  // namespace headrace
