#include "runtime/interrupt.h"

#include <utility>

#include "runtime/clock.h"

namespace headrace {
namespace {

// Asking takes locks of the host program: a loop over blocks of a file asks more often than that.
constexpr std::int64_t kAskNs = 50'000'000;

thread_local InterruptScope* innermost = nullptr;

}  // namespace

InterruptScope::InterruptScope(std::function<bool()> check) : check_(std::move(check)), outer_(innermost) {
  innermost = this;
}

InterruptScope::~InterruptScope() { innermost = outer_; }

bool InterruptScope::ask() {
  const std::int64_t now = now_ns();
  if (is_interrupted_ || now < next_ask_ns_) return is_interrupted_;
  next_ask_ns_ = now + kAskNs;
  is_interrupted_ = check_();
  return is_interrupted_;
}

bool interrupted() { return innermost != nullptr && innermost->ask(); }

}  // namespace headrace
