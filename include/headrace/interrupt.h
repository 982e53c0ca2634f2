// InterruptScope: how a host program ends a call of the library that waits for a network on one of the program's threads.
//
// Waits of the engine's own threads are ended by closing what they work for.
#pragma once

#include <functional>

namespace headrace {

/// While it lives, calls of the library on this thread that wait for a network ask `check` some ten times a second; once that
/// is true they end with kCancelled. Scopes nest; the innermost counts.
class InterruptScope {
 public:
  explicit InterruptScope(std::function<bool()> check);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  friend bool interrupted();
  const std::function<bool()> check_;
  const InterruptScope* const outer_;
};

}  // namespace headrace
