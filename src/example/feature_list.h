// One feature list of a tf.train.SequenceExample (a FeatureList message), step by step. Each step is a Feature.
#pragma once

#include <cstdint>
#include <vector>

#include "example/example_entry.h"
#include "example/feature_joiner.h"

namespace headrace {

/// Borrowed like a FeatureView. Null data: the record has no such list.
struct FeatureListView {
  const std::uint8_t* data = nullptr;
  std::uint32_t size = 0;
};

/// For steps whose list comes in several pieces; used by one StepReader after another.
struct StepScratch {
  FeatureJoiner joiner;
  std::vector<std::uint8_t> memory;
};

/// A few pointers; copied freely.
class StepReader {
 public:
  StepReader(const FeatureListView& list, StepScratch* scratch)
      : at_(list.data), end_(list.data + list.size), scratch_(scratch) {}

  /// True: `step` is the next one, valid until the scratch is used for another. False: the list is used up, or malformed().
  bool next(FeatureView* step) {
    if (at_ == end_) return false;
    std::uint64_t size = 0;
    const std::uint8_t* p = read_head(kStepTag, at_, end_, &size);
    if (p == nullptr || !read_value(p, p + size, step)) [[unlikely]]
      return next_in_any_form(step);
    at_ = p + size;
    return true;
  }
  bool malformed() const { return malformed_; }

 private:
  static constexpr std::uint8_t kStepTag = 0x0A;  // field 1, length-delimited

  bool next_in_any_form(FeatureView* step);

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  StepScratch* scratch_;
  bool malformed_ = false;
};

}  // namespace headrace
