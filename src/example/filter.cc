// What a Filter may look like, and its text.
#include "headrace/filter.h"

#include <algorithm>
#include <charconv>

namespace headrace {
namespace {

constexpr std::size_t kMostAnswers = 64;  // a Predicate keeps them in one word

Status refuse(const std::string& reason) { return invalid_argument("filter(): " + reason); }

std::size_t size_of(const FilterTerm::Values& values) {
  return std::visit([](const auto& list) { return list.size(); }, values);
}

Status check_term(const FilterTerm& term) {
  if (term.key.empty()) return refuse("a feature without a key");
  if (term.comparison != Comparison::kIn && size_of(term.operands) != 1) {
    return refuse("'" + term.key + "' is compared with " + std::to_string(size_of(term.operands)) + " values, not one");
  }
  if (term.subject == FilterSubject::kCount && term.operands.index() != 0) {
    return refuse("the count of '" + term.key + "' can only be compared with integers");
  }
  if (size_of(term.fallback) == 0) return {};
  const bool fits = term.subject == FilterSubject::kValue && size_of(term.fallback) == 1 &&
                    term.fallback.index() == term.operands.index();
  return fits ? Status()
              : refuse("the default of '" + term.key + "' must be one value of the kind it is compared with");
}

const char* sign(Comparison comparison) {
  static constexpr const char* kSigns[] = {"==", "!=", "<", "<=", ">", ">=", "in"};
  return kSigns[static_cast<int>(comparison) - 1];
}

std::string text_of(std::int64_t value) { return std::to_string(value); }
std::string text_of(float value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}
// What a saved position holds must be text: anything but a plain word is written in hexadecimal.
std::string text_of(const std::string& value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const bool is_plain = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '/' ||
           c == '.';
  });
  if (is_plain) return value;
  std::string text = "0x";
  for (const char c : value) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

std::string list_text(const FilterTerm::Values& values) {
  std::string text;
  std::visit(
      [&text](const auto& list) {
        for (const auto& value : list) text += (text.empty() ? "" : " ") + text_of(value);
      },
      values);
  return "[" + text + "]";
}

std::string term_text(const FilterTerm& term) {
  static constexpr const char* kSubjects[] = {"", ".any", ".count"};
  std::string text = text_of(term.key) + kSubjects[static_cast<int>(term.subject) - 1];
  if (size_of(term.fallback) > 0) text += " or " + list_text(term.fallback);
  return "(" + text + " " + sign(term.comparison) + " " + list_text(term.operands) + ")";
}

}  // namespace

Status Filter::validate() const {
  for (const FilterTerm& term : terms) HEADRACE_RETURN_IF_ERROR(check_term(term));
  std::size_t answers = 0;
  std::size_t used = 0;
  for (const FilterStep step : steps) {
    const std::size_t takes = step == FilterStep::kTerm ? 0 : step == FilterStep::kNot ? 1 : 2;
    if (answers < takes) return refuse("the expression lacks a term");
    answers = answers - takes + 1;
    if (step == FilterStep::kTerm) ++used;
    if (answers > kMostAnswers) return refuse("the expression is nested deeper than 64");
  }
  if (answers != 1 || used != terms.size()) return refuse("the expression must come to one answer over all its terms");
  return {};
}

std::string Filter::text() const {
  std::vector<std::string> parts;
  std::size_t next = 0;
  for (const FilterStep step : steps) {
    if (step == FilterStep::kTerm) {
      parts.push_back(term_text(terms[next++]));
    } else if (step == FilterStep::kNot) {
      parts.back() = "~" + parts.back();
    } else {
      const std::string right = std::move(parts.back());
      parts.pop_back();
      parts.back() = "(" + parts.back() + (step == FilterStep::kAnd ? " & " : " | ") + right + ")";
    }
  }
  return parts.empty() ? "" : parts.front();
}

}  // namespace headrace
