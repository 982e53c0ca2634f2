// Transforms over the values of one feature in a parse task, and what they cost: the report has it by feature.
//
// A clock is read around every kTimed-th run only, so that short runs are not all clock; the others count as the timed
// ones, in proportion to their values.
#pragma once

#include <cstdint>

#include "headrace/status.h"
#include "runtime/clock.h"
#include "tensor/column_plan.h"

namespace headrace {

struct ParseScratch;

/// Of one feature in one thread.
class TransformClock {
 public:
  static constexpr int kTimed = 16;

  /// Calls `run`, which goes over `values` values.
  template <class Run>
  BadValue time(std::int64_t values, Run run) {
    values_ += values;
    if (untimed_runs_left_ > 0) {
      --untimed_runs_left_;
      return run();
    }
    untimed_runs_left_ = kTimed - 1;
    const std::int64_t start_ns = now_ns();
    const BadValue bad = run();
    timed_ns_ += now_ns() - start_ns;
    timed_values_ += values;
    return bad;
  }
  /// Nanoseconds of the runs since the last call that gave some; 0 when none of them was timed.
  std::int64_t take_ns();

 private:
  std::int64_t values_ = 0;
  std::int64_t timed_values_ = 0;
  std::int64_t timed_ns_ = 0;
  int untimed_runs_left_ = 0;
};

/// TransformProgram::run().
BadValue run_transforms(const StepTransforms& transforms, const std::uint8_t* from, std::uint8_t* to,
                        std::int64_t count, ParseScratch& scratch);
/// The failure of the first of the `count` values at `from` that cannot be turned. For phase 1 of variable columns: phase 2
/// cannot fail.
Status check_transforms(const Feature& feature, const StepTransforms& transforms, const std::uint8_t* from,
                        std::int64_t count, ParseScratch& scratch);

}  // namespace headrace
