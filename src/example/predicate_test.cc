// Filters on serialized Examples: every comparison, kind and subject; what cannot be compared; the text.
#include "example/predicate.h"

#include <gtest/gtest.h>

#include <limits>

#include "headrace/example.h"

namespace headrace {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

std::string padded(std::string record) {
  record.resize(record.size() + kRecordPadding, '\0');
  return record;
}

Result<bool> keeps(const Filter& filter, const std::string& record) {
  EXPECT_TRUE(filter.validate().ok()) << filter.validate().to_string();
  Predicate predicate(filter);
  const std::string bytes = padded(record);
  return predicate.keeps({reinterpret_cast<const std::uint8_t*>(bytes.data()), record.size()});
}

Filter term(std::string key, Comparison comparison, FilterTerm::Values operands,
            FilterSubject subject = FilterSubject::kValue, FilterTerm::Values fallback = {}) {
  return {{{std::move(key), subject, comparison, std::move(operands), std::move(fallback)}}, {FilterStep::kTerm}};
}

// i: 5; is: -1, 2, 300; f: 0.1; fs: none; s: "abc"; ss: "", "b"
std::string record() {
  const Ints one{5};
  const Ints several{-1, 2, 300};
  const Floats tenth{0.1F};
  const std::vector<std::string_view> text{"abc"};
  const std::vector<std::string_view> texts{"", "b"};
  return ExampleBuilder()
      .add_int64("i", one)
      .add_int64("is", several)
      .add_float("f", tenth)
      .add_float("fs", {})
      .add_bytes("s", text)
      .add_bytes("ss", texts)
      .build();
}

bool answer(const Filter& filter) {
  const Result<bool> kept = keeps(filter, record());
  EXPECT_TRUE(kept.ok()) << kept.status().to_string();
  return kept.ok() && *kept;
}

TEST(Predicate, EveryComparison) {
  const struct {
    Comparison comparison;
    bool with_4, with_5, with_6;
  } kCases[] = {{Comparison::kEqual, false, true, false},   {Comparison::kNotEqual, true, false, true},
                {Comparison::kLess, false, false, true},    {Comparison::kLessEqual, false, true, true},
                {Comparison::kGreater, true, false, false}, {Comparison::kGreaterEqual, true, true, false},
                {Comparison::kIn, false, true, false}};
  for (const auto& c : kCases) {
    EXPECT_EQ(answer(term("i", c.comparison, Ints{4})), c.with_4) << static_cast<int>(c.comparison);
    EXPECT_EQ(answer(term("i", c.comparison, Ints{5})), c.with_5) << static_cast<int>(c.comparison);
    EXPECT_EQ(answer(term("i", c.comparison, Ints{6})), c.with_6) << static_cast<int>(c.comparison);
  }
  EXPECT_TRUE(answer(term("i", Comparison::kIn, Ints{1, 5, 9})));
  EXPECT_FALSE(answer(term("i", Comparison::kIn, Ints{})));
}

TEST(Predicate, FloatsAreComparedAsFloat32AndStringsByTheirBytes) {
  EXPECT_TRUE(answer(term("f", Comparison::kEqual, Floats{0.1F})));
  EXPECT_FALSE(answer(term("f", Comparison::kLess, Floats{0.1F})));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(answer(term("f", Comparison::kEqual, Floats{nan})));
  EXPECT_TRUE(answer(term("f", Comparison::kNotEqual, Floats{nan})));
  EXPECT_TRUE(answer(term("s", Comparison::kEqual, Strings{"abc"})));
  EXPECT_TRUE(answer(term("s", Comparison::kLess, Strings{"abd"})));
  EXPECT_TRUE(answer(term("s", Comparison::kGreater, Strings{std::string("abb\0", 4)})));
  EXPECT_TRUE(answer(term("s", Comparison::kIn, Strings{"x", "abc"})));
}

TEST(Predicate, AnyAndCount) {
  EXPECT_TRUE(answer(term("is", Comparison::kEqual, Ints{300}, FilterSubject::kAny)));
  EXPECT_FALSE(answer(term("is", Comparison::kEqual, Ints{3}, FilterSubject::kAny)));
  EXPECT_TRUE(answer(term("ss", Comparison::kEqual, Strings{""}, FilterSubject::kAny)));
  EXPECT_FALSE(answer(term("fs", Comparison::kEqual, Floats{0}, FilterSubject::kAny)));
  EXPECT_FALSE(answer(term("missing", Comparison::kEqual, Ints{0}, FilterSubject::kAny)));
  const std::pair<const char*, std::int64_t> kCounts[] = {{"i", 1}, {"is", 3}, {"f", 1},      {"fs", 0},
                                                          {"s", 1}, {"ss", 2}, {"missing", 0}};
  for (const auto& [key, count] : kCounts) {
    EXPECT_TRUE(answer(term(key, Comparison::kEqual, Ints{count}, FilterSubject::kCount))) << key;
  }
}

TEST(Predicate, MoreValuesThanTheFirstGuess) {
  Ints many(1000);
  many.back() = 7;
  const std::string long_list = ExampleBuilder().add_int64("x", many).build();
  EXPECT_TRUE(*keeps(term("x", Comparison::kEqual, Ints{7}, FilterSubject::kAny), long_list));
  EXPECT_FALSE(*keeps(term("x", Comparison::kEqual, Ints{8}, FilterSubject::kAny), long_list));
}

TEST(Predicate, AMissingFeatureHasItsDefault) {
  EXPECT_TRUE(answer(term("missing", Comparison::kEqual, Ints{3}, FilterSubject::kValue, Ints{3})));
  EXPECT_TRUE(answer(term("missing", Comparison::kLess, Floats{3}, FilterSubject::kValue, Floats{2})));
  EXPECT_TRUE(answer(term("missing", Comparison::kIn, Strings{"a", "b"}, FilterSubject::kValue, Strings{"b"})));
  EXPECT_FALSE(answer(term("i", Comparison::kEqual, Ints{3}, FilterSubject::kValue, Ints{3})));
}

TEST(Predicate, AndOrNotOverEveryPairOfAnswers) {
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      Filter filter;
      for (const bool wanted : {true, a, b}) {  // the first one lies below and must not be touched
        filter.terms.push_back(term("i", Comparison::kEqual, Ints{wanted ? 5 : 4}).terms[0]);
      }
      using Step = FilterStep;
      filter.steps = {Step::kTerm, Step::kTerm, Step::kTerm, Step::kAnd, Step::kAnd};
      EXPECT_EQ(answer(filter), a && b);
      filter.steps = {Step::kTerm, Step::kTerm, Step::kTerm, Step::kOr, Step::kAnd};
      EXPECT_EQ(answer(filter), a || b);
      filter.steps = {Step::kTerm, Step::kTerm, Step::kNot, Step::kTerm, Step::kAnd, Step::kAnd};
      EXPECT_EQ(answer(filter), !a && b);
      filter.steps = {Step::kTerm, Step::kNot, Step::kTerm, Step::kTerm, Step::kOr, Step::kOr, Step::kNot};
      EXPECT_EQ(answer(filter), !(a || b));
    }
  }
}

TEST(Predicate, WhatCannotBeCompared) {
  const struct {
    Filter filter;
    const char* key;
    const char* expected;
    const char* found;
  } kCases[] = {
      {term("missing", Comparison::kEqual, Ints{3}), "missing", "one value", "nothing: the feature is missing"},
      {term("is", Comparison::kEqual, Ints{3}), "is", "one value", "3 values"},
      {term("fs", Comparison::kEqual, Floats{3}), "fs", "one value", "0 values"},
      {term("i", Comparison::kEqual, Floats{3}), "i", "float", "int64"},
      {term("s", Comparison::kEqual, Ints{3}, FilterSubject::kAny), "s", "int64", "bytes"},
  };
  for (const auto& c : kCases) {
    const Status failure = keeps(c.filter, record()).status();
    EXPECT_EQ(failure.code(), StatusCode::kSchemaMismatch);
    EXPECT_EQ(failure.where().key, c.key);
    EXPECT_EQ(failure.where().expected, c.expected);
    EXPECT_EQ(failure.where().found, c.found);
  }
  EXPECT_EQ(keeps(term("i", Comparison::kEqual, Ints{3}), "\xFF").status().code(), StatusCode::kSchemaMismatch);
}

TEST(Filter, WhatIsRefused) {
  const Filter good = term("i", Comparison::kEqual, Ints{3});
  const auto refused = [](const Filter& filter) { return filter.validate().code() == StatusCode::kInvalidArgument; };
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused({good.terms, {}}));
  EXPECT_TRUE(refused({good.terms, {FilterStep::kTerm, FilterStep::kTerm}}));
  EXPECT_TRUE(refused({good.terms, {FilterStep::kTerm, FilterStep::kAnd}}));
  EXPECT_TRUE(refused({good.terms, {FilterStep::kNot, FilterStep::kTerm}}));
  EXPECT_TRUE(refused({{good.terms[0], good.terms[0]}, {FilterStep::kTerm, FilterStep::kTerm}}));
  EXPECT_TRUE(refused(term("", Comparison::kEqual, Ints{3})));
  EXPECT_TRUE(refused(term("i", Comparison::kEqual, Ints{})));
  EXPECT_TRUE(refused(term("i", Comparison::kEqual, Ints{1, 2})));
  EXPECT_TRUE(refused(term("i", Comparison::kEqual, Floats{1}, FilterSubject::kCount)));
  EXPECT_TRUE(refused(term("i", Comparison::kEqual, Ints{1}, FilterSubject::kAny, Ints{1})));
  EXPECT_TRUE(refused(term("i", Comparison::kEqual, Ints{1}, FilterSubject::kValue, Floats{1})));
  Filter deep;
  for (int i = 0; i < 65; ++i) {
    deep.terms.push_back(good.terms[0]);
    deep.steps.push_back(FilterStep::kTerm);
  }
  deep.steps.insert(deep.steps.end(), 64, FilterStep::kAnd);
  EXPECT_TRUE(refused(deep));
}

TEST(Filter, Text) {
  Filter filter = term("label", Comparison::kIn, Ints{3, -4}, FilterSubject::kValue, Ints{0});
  filter.terms.push_back(term("a b", Comparison::kGreaterEqual, Floats{0.1F}).terms[0]);
  filter.terms.push_back(term("tags", Comparison::kEqual, Strings{"new", ""}, FilterSubject::kAny).terms[0]);
  filter.steps = {FilterStep::kTerm, FilterStep::kTerm, FilterStep::kNot,
                  FilterStep::kOr,   FilterStep::kTerm, FilterStep::kAnd};
  EXPECT_EQ(filter.text(), "(((label or [0] in [3 -4]) | ~(0x612062 >= [0.1])) & (tags.any == [new 0x]))");
}

}  // namespace
}  // namespace headrace
