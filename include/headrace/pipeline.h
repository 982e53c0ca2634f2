// Pipeline: a running dataset. Obtained from Dataset::open(); hands out batches in order until the end or a failure.
//
// next() and next_slice() wait for data; close() may be called from any thread and wakes them with kCancelled. One caller
// at a time per kind of call. The destructor closes. After fork() every call in the child gives kCancelled and touches no
// lock. A failure is sticky: every later call gives it again.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "headrace/batch.h"
#include "headrace/position.h"
#include "headrace/status.h"

namespace headrace {

struct Report;

/// What a bounded wait found: as Result<std::optional<T>>, plus "not yet".
enum class Wait : std::uint8_t { kReady, kTimeout };

class Pipeline {
 public:
  class Impl;
  explicit Pipeline(std::shared_ptr<Impl> impl);
  Pipeline(Pipeline&&) noexcept;
  Pipeline& operator=(Pipeline&&) noexcept;
  ~Pipeline();

  /// A batch; nothing at the end of the stream; or the failure that ended it.
  Result<std::optional<Batch>> next();
  /// The same, waiting at most `timeout`; kTimeout leaves `*batch` alone.
  Wait next_for(std::chrono::milliseconds timeout, Result<std::optional<Batch>>* batch);

  /// Per-replica iteration: the k-th call for replica r gives slice r of batch k. Replicas may lead each other by
  /// depth + 2 batches, then they wait for the slowest. Do not mix with next(). Safe from one thread per replica.
  Result<std::optional<Slice>> next_slice(int replica);
  Wait next_slice_for(int replica, std::chrono::milliseconds timeout, Result<std::optional<Slice>>* slice);

  int replicas() const;
  /// Batches of the stream when known (see Dataset::cardinality).
  std::optional<std::int64_t> cardinality() const;

  /// False behind resident(): position() is kInvalidArgument then.
  bool has_position() const;
  /// Position behind the last batch delivered (all replicas), or behind the `back`-th before it (at most 64 back).
  Result<Position> position(int back = 0) const;

  /// For who works on batches before they count as delivered: the report gets a stage "map `name`" with the sums of all calls.
  void count_map(const std::string& name, std::int64_t busy_ns, std::int64_t rows);

  /// Stops all work, joins, frees; idempotent; from any thread.
  void close();

  const std::shared_ptr<Impl>& impl() const { return impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace headrace
