#include "shard/shard_names.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace headrace {
namespace {

constexpr std::string_view kOf = "-of-";
constexpr std::size_t kMostDigits = 9;

// PREFIX-INDEX-of-TOTAL SUFFIX
struct ShardName {
  std::string prefix;  // up to and with the dash before the index
  std::uint32_t index = 0;
  std::size_t digits = 0;
  std::string total_text;
  std::uint32_t total = 0;
  std::string suffix;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::uint32_t number(std::string_view digits) {
  std::uint32_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::optional<ShardName> parse(std::string_view path) {
  const std::size_t of = path.rfind(kOf);
  if (of == std::string_view::npos) return std::nullopt;
  std::size_t first = of;
  while (first > 0 && is_digit(path[first - 1])) --first;
  std::size_t last = of + kOf.size();
  const std::size_t total_at = last;
  while (last < path.size() && is_digit(path[last])) ++last;
  const std::size_t digits = of - first;
  const std::size_t total_digits = last - total_at;
  if (digits == 0 || digits > kMostDigits || total_digits == 0 || total_digits > kMostDigits) return std::nullopt;
  if (first == 0 || (path[first - 1] != '-' && path[first - 1] != '_' && path[first - 1] != '/')) return std::nullopt;
  const std::string total_text(path.substr(total_at, total_digits));
  return ShardName{.prefix = std::string(path.substr(0, first)),
                   .index = number(path.substr(first, digits)),
                   .digits = digits,
                   .total_text = total_text,
                   .total = number(total_text),
                   .suffix = std::string(path.substr(last))};
}

}  // namespace

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_side_file(std::string_view name) {
  if (name.empty() || name.front() == '.' || name.front() == '_') return true;
  if (name.back() == '~' || (name.front() == '#' && name.back() == '#')) return true;
  return name.ends_with(".crc") || name.ends_with(".md5") || name.ends_with(".sha256") || name.ends_with(".swp");
}

bool is_record_name(std::string_view name) {
  return name.find("tfrecord") != std::string_view::npos || name.find(".tfr") != std::string_view::npos ||
         parse(name).has_value();
}

std::vector<std::string> missing_shards(std::span<const std::string> paths, std::size_t limit) {
  std::map<std::tuple<std::string, std::size_t, std::string, std::string>, std::set<std::uint32_t>> sets;
  for (const std::string& path : paths) {
    if (const auto name = parse(path)) {
      sets[{name->prefix, name->digits, name->total_text, name->suffix}].insert(name->index);
    }
  }
  std::vector<std::string> missing;
  for (const auto& [key, present] : sets) {
    const auto& [prefix, digits, total_text, suffix] = key;
    const std::uint32_t total = number(total_text);
    for (std::uint32_t i = 0; i < total && missing.size() < limit; ++i) {
      if (present.contains(i)) continue;
      std::string index = std::to_string(i);
      index.insert(0, digits - std::min(digits, index.size()), '0');
      missing.push_back(std::string(prefix).append(index).append(kOf).append(total_text).append(suffix));
    }
  }
  return missing;
}

std::string join_some(std::span<const std::string> names, std::size_t limit) {
  std::string text;
  for (std::size_t i = 0; i < std::min(limit, names.size()); ++i) text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > limit) text += " and " + std::to_string(names.size() - limit) + " more";
  return text;
}

}  // namespace headrace
