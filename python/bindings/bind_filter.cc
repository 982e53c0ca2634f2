#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "failure.h"
#include "headrace/filter.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace): argument names

namespace headrace::python {
namespace {

FilterSubject to_subject(const std::string& word) {
  if (word == "value") return FilterSubject::kValue;
  if (word == "any") return FilterSubject::kAny;
  if (word == "count") return FilterSubject::kCount;
  raise(invalid_argument("subject='" + word + "': must be 'value', 'any' or 'count'"));
}

Comparison to_comparison(const std::string& word) {
  static const std::vector<std::string> kWords = {"==", "!=", "<", "<=", ">", ">=", "in"};
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (kWords[i] == word) return static_cast<Comparison>(i + 1);
  }
  raise(invalid_argument("comparison='" + word + "': must be one of == != < <= > >= in"));
}

template <class Value>
void add_term(Filter& self, nb::bytes key, const std::string& subject, const std::string& comparison,
              std::vector<Value> operands, std::optional<Value> fallback) {
  FilterTerm term;
  term.key = to_view(key);
  term.subject = to_subject(subject);
  term.comparison = to_comparison(comparison);
  term.operands = std::move(operands);
  if (fallback) term.fallback = std::vector<Value>{std::move(*fallback)};
  self.terms.push_back(std::move(term));
  self.steps.push_back(FilterStep::kTerm);
}

std::string to_string(const nb::bytes& bytes) { return std::string(to_view(bytes)); }

void add_strings(Filter& self, nb::bytes key, const std::string& subject, const std::string& comparison,
                 const std::vector<nb::bytes>& operands, const std::optional<nb::bytes>& fallback) {
  std::vector<std::string> strings;
  for (const nb::bytes& operand : operands) strings.push_back(to_string(operand));
  std::optional<std::string> value;
  if (fallback) value = to_string(*fallback);
  add_term<std::string>(self, std::move(key), subject, comparison, std::move(strings), std::move(value));
}

}  // namespace

void bind_filter(nb::module_& m) {
  nb::class_<Filter>(m, "Filter", "A postfix expression over terms, for Dataset.filter.")
      .def(nb::init<>())
      .def("add_ints", add_term<std::int64_t>, "key"_a, "subject"_a, "comparison"_a, "operands"_a,
           "fallback"_a = nb::none())
      .def("add_floats", add_term<float>, "key"_a, "subject"_a, "comparison"_a, "operands"_a, "fallback"_a = nb::none())
      .def("add_strings", add_strings, "key"_a, "subject"_a, "comparison"_a, "operands"_a, "fallback"_a = nb::none())
      .def("negate", [](Filter& self) { self.steps.push_back(FilterStep::kNot); })
      .def("both", [](Filter& self) { self.steps.push_back(FilterStep::kAnd); })
      .def("either", [](Filter& self) { self.steps.push_back(FilterStep::kOr); })
      .def("text", [](const Filter& self) { return self.text(); });
}

}  // namespace headrace::python
