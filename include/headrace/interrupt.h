// InterruptScope: how a host program ends a call of the library that lasts, on one of the program's threads: one that waits for
// a network, or reads whole files.
//
// Waits of the engine's own threads are ended by closing what they work for.
#pragma once

#include <cstdint>
#include <functional>

namespace headrace {

/// While it lives, such calls of the library on this thread ask `check` ten to twenty times a second; once that is true they end
/// with kCancelled, and it is not asked again. Scopes nest; the innermost counts.
class InterruptScope {
 public:
  explicit InterruptScope(std::function<bool()> check);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  friend bool interrupted();
  bool ask();

  const std::function<bool()> check_;
  bool is_interrupted_ = false;
  std::int64_t next_ask_ns_ = 0;
  InterruptScope* const outer_;
};

}  // namespace headrace
