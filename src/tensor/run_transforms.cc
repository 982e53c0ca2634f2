#include "tensor/run_transforms.h"

#include "tensor/parse_scratch.h"

namespace headrace {

std::int64_t TransformClock::take_ns() {
  if (timed_values_ == 0) return 0;
  const double all_of_timed = static_cast<double>(values_) / static_cast<double>(timed_values_);
  const auto ns = static_cast<std::int64_t>(static_cast<double>(timed_ns_) * all_of_timed);
  values_ = timed_values_ = timed_ns_ = 0;
  return ns;
}

BadValue run_transforms(const StepTransforms& transforms, const std::uint8_t* from, std::uint8_t* to,
                        std::int64_t count, ParseScratch& scratch) {
  return scratch.clocks[transforms.number].time(
      count, [&] { return transforms.list.program.run(from, to, count, scratch.transform); });
}

Status check_transforms(const Feature& feature, const StepTransforms& transforms, const std::uint8_t* from,
                        std::int64_t count, ParseScratch& scratch) {
  const TransformProgram& program = transforms.list.program;
  const BadValue bad =
      scratch.clocks[transforms.number].time(count, [&] { return program.check(from, count, scratch.transform); });
  return bad.index < 0 ? Status() : program.failure(feature, bad.op, bad.index);
}

}  // namespace headrace
