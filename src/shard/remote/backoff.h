// Backoff: how long to wait before a request is tried again. Exponential with full jitter, so that many readers whose server
// went away do not come back all at once. One caller at a time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/random.h"

namespace headrace {

class Backoff {
 public:
  static constexpr std::chrono::milliseconds kFirst{100};
  static constexpr std::chrono::milliseconds kMost{10'000};

  /// At most `attempts` without any progress, the first one included; `seed` makes the jitter.
  Backoff(int attempts, std::uint64_t seed) : attempts_(attempts), key_(random_key(seed, 0)) {}

  /// Before the next attempt; nothing when there were enough. `asked`: what the server asked for, which is kept up to kMost.
  std::optional<std::chrono::milliseconds> next(std::optional<std::chrono::milliseconds> asked = std::nullopt) {
    if (++failed_ >= attempts_) return std::nullopt;
    const auto limit = std::min(kMost, kFirst * (std::int64_t{1} << std::min(failed_ - 1, 20)));
    const auto bound = static_cast<std::uint64_t>(limit.count()) + 1;
    const std::chrono::milliseconds wait(static_cast<std::int64_t>(random_below(key_, drawn_++, bound)));
    return asked ? std::max(wait, std::min(*asked, kMost)) : wait;
  }
  /// Something came: a connection that breaks again and again may still bring the whole.
  void progress() { failed_ = 0; }
  int failed() const { return failed_; }

 private:
  const int attempts_;
  const std::uint64_t key_;
  int failed_ = 0;
  std::uint64_t drawn_ = 0;
};

}  // namespace headrace
