#include "example/predicate.h"

#include <algorithm>
#include <functional>
#include <string>

#include "example/list_decoder.h"

namespace headrace {
namespace {

std::vector<std::string> keys_of(const Filter& filter) {
  std::vector<std::string> keys;
  for (const FilterTerm& term : filter.terms) {
    if (std::find(keys.begin(), keys.end(), term.key) == keys.end()) keys.push_back(term.key);
  }
  return keys;
}

const char* list_name(ListKind kind) {
  static constexpr const char* kNames[] = {"nothing", "bytes", "float", "int64"};
  return kNames[static_cast<int>(kind)];
}

ListKind kind_of(const FilterTerm::Values& values) {
  static constexpr ListKind kKinds[] = {ListKind::kInt64, ListKind::kFloat, ListKind::kBytes};
  return kKinds[values.index()];
}

template <class Value, class Operand>
bool fits(Comparison comparison, const Value& value, const std::vector<Operand>& operands) {
  const Value operand = operands.empty() ? Value() : Value(operands.front());
  switch (comparison) {
    case Comparison::kEqual:
      return value == operand;
    case Comparison::kNotEqual:
      return value != operand;
    case Comparison::kLess:
      return value < operand;
    case Comparison::kLessEqual:
      return value <= operand;
    case Comparison::kGreater:
      return value > operand;
    case Comparison::kGreaterEqual:
      return value >= operand;
    case Comparison::kIn:
      break;
  }
  return std::find(operands.begin(), operands.end(), value) != operands.end();
}

// All values of a list in `values`; -1 when it is malformed.
template <class Value, class Decode>
std::int64_t decode(const FeatureView& list, std::vector<Value>* values, Decode decode_list) {
  const auto capacity = static_cast<std::int64_t>(values->size());
  const std::int64_t count = decode_list(list, values->data(), capacity);
  if (count <= capacity) return count;
  values->resize(static_cast<std::size_t>(count));
  return decode_list(list, values->data(), count);
}

// A std::vector<std::string> holds what a std::string_view finds.
template <class Value>
struct OperandOf {
  using type = Value;
};
template <>
struct OperandOf<std::string_view> {
  using type = std::string;
};

}  // namespace

Predicate::Predicate(const Filter& filter)
    : filter_(filter), reader_(std::make_shared<const KeySet>(keys_of(filter))), ints_(8), floats_(8), strings_(8) {
  const std::vector<std::string> keys = keys_of(filter);
  views_.resize(keys.size());
  for (const FilterTerm& term : filter_.terms) {
    keys_.push_back(static_cast<std::size_t>(std::find(keys.begin(), keys.end(), term.key) - keys.begin()));
  }
}

Result<bool> Predicate::keeps(std::span<const std::uint8_t> record) {
  HEADRACE_RETURN_IF_ERROR(reader_.read(record, views_));
  std::uint64_t answers = 0;  // the last one is the lowest bit
  std::size_t next = 0;
  for (const FilterStep step : filter_.steps) {
    switch (step) {
      case FilterStep::kTerm: {
        HEADRACE_ASSIGN_OR_RETURN(const bool answer, holds(filter_.terms[next], views_[keys_[next]]));
        ++next;
        answers = answers << 1 | (answer ? 1 : 0);
        break;
      }
      case FilterStep::kNot:
        answers ^= 1;
        break;
      case FilterStep::kAnd:
        answers = answers >> 1 & (answers | ~std::uint64_t{1});
        break;
      case FilterStep::kOr:
        answers = answers >> 1 | (answers & 1);
        break;
    }
  }
  reader_.take_merged();  // joined lists are not needed any more
  return (answers & 1) != 0;
}

template <class Value>
Result<bool> Predicate::compare(const FilterTerm& term, std::span<const Value> found) const {
  const auto& operands = std::get<std::vector<typename OperandOf<Value>::type>>(term.operands);
  return std::any_of(found.begin(), found.end(),
                     [&](const Value& value) { return fits(term.comparison, value, operands); });
}

Result<bool> Predicate::holds(const FilterTerm& term, const FeatureView& list) {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  if (term.subject == FilterSubject::kCount) {
    if (list.kind == ListKind::kInt64) count = count_int64_list(list);
    if (list.kind == ListKind::kFloat) count = count_float_list(list);
    if (list.kind == ListKind::kBytes) count = count_bytes_list(list, &bytes);
    if (count < 0) return wrong(term, "a list", "a malformed one");
    return compare<std::int64_t>(term, std::span(&count, 1));
  }
  if (list.kind == ListKind::kAbsent) {
    const auto from_default = [this, &term]<class Value>(const std::vector<Value>& value) -> Result<bool> {
      if (term.subject == FilterSubject::kAny) return false;
      if (value.empty()) return wrong(term, "one value", "nothing: the feature is missing");
      if constexpr (std::is_same_v<Value, std::string>) {
        const std::string_view text = value.front();
        return compare<std::string_view>(term, std::span(&text, 1));
      } else {
        return compare<Value>(term, std::span<const Value>(value));
      }
    };
    return std::visit(from_default, term.fallback);
  }
  if (list.kind != kind_of(term.operands)) return wrong(term, list_name(kind_of(term.operands)), list_name(list.kind));
  switch (list.kind) {
    case ListKind::kInt64:
      count = decode(list, &ints_, decode_int64_list);
      break;
    case ListKind::kFloat:
      count = decode(list, &floats_, decode_float_list);
      break;
    default:
      count = decode(list, &strings_, decode_bytes_list);
      break;
  }
  if (count < 0) return wrong(term, "a list", "a malformed one");
  if (term.subject == FilterSubject::kValue && count != 1) {
    return wrong(term, "one value", std::to_string(count) + " values");
  }
  const auto found = static_cast<std::size_t>(count);
  if (list.kind == ListKind::kInt64) return compare<std::int64_t>(term, std::span(ints_).first(found));
  if (list.kind == ListKind::kFloat) return compare<float>(term, std::span(floats_).first(found));
  return compare<std::string_view>(term, std::span(strings_).first(found));
}

Status Predicate::wrong(const FilterTerm& term, std::string expected, std::string found) const {
  Where where;
  where.key = term.key;
  where.expected = std::move(expected);
  where.found = std::move(found);
  return {StatusCode::kSchemaMismatch,
          "filter(): cannot compare feature '" + term.key + "': expected " + where.expected + ", found " + where.found,
          where};
}

}  // namespace headrace
