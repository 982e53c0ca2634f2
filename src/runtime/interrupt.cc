#include "runtime/interrupt.h"

#include <utility>

namespace headrace {
namespace {

thread_local const InterruptScope* innermost = nullptr;

}  // namespace

InterruptScope::InterruptScope(std::function<bool()> check) : check_(std::move(check)), outer_(innermost) {
  innermost = this;
}

InterruptScope::~InterruptScope() { innermost = outer_; }

bool interrupted() { return innermost != nullptr && innermost->check_(); }

}  // namespace headrace
