// CudaMemory: the memory of one device that one feed copies batches to, and the stream that does it.
//
// Pieces come from the device's stream-ordered pool and are recycled here by size class. A piece comes back when the last
// reference to its Buffer goes, on any thread, also after the feed is gone. The device may still be reading it then: what
// Buffer::read_by() was told decides which fences the next copy into it waits for, on the device, not on the host.
//
// acquire() and stream() belong to one thread at a time; everything else is for any.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "device/cuda_context.h"
#include "headrace/batch.h"
#include "runtime/fork.h"
#include "runtime/mutex.h"
#include "tensor/size_class.h"

namespace headrace {

class CudaMemory : public std::enable_shared_from_this<CudaMemory> {
 public:
  static Result<std::shared_ptr<CudaMemory>> open(std::shared_ptr<const CudaContext> context);
  ~CudaMemory();
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;

  const CudaContext& context() const { return *context_; }
  CuStream stream() const { return stream_; }
  /// A buffer that work queued on stream() from now on may write. kDevice when the device has no memory left, even without what
  /// lies here unused.
  Result<BufferPtr> acquire(std::size_t bytes) HEADRACE_EXCLUDES(mutex_);
  /// Bytes of the pieces that are out.
  std::int64_t bytes_out() const HEADRACE_EXCLUDES(mutex_);

 private:
  struct Piece {
    CuAddress address = 0;
    std::size_t size_class = 0;
    std::vector<CuEvent> events;  // of this piece alone; the first `fences` are to be waited for
    std::size_t fences = 0;
    bool waits_for_context = false;  // there is work that no event stands for
  };
  /// Whose work may read a piece.
  struct Readers {
    std::vector<std::uintptr_t> streams;
    bool anyone = false;
  };
  class PieceBuffer;

  CudaMemory(std::shared_ptr<const CudaContext> context, CuStream stream);
  std::optional<Piece> take_free(std::size_t size_class) HEADRACE_EXCLUDES(mutex_);
  Result<Piece> allocate(std::size_t size_class) HEADRACE_EXCLUDES(mutex_);
  /// Makes stream() wait for whoever may still read the piece.
  Status wait_for_readers(Piece* piece);
  void release(Piece piece, const Readers& readers) HEADRACE_EXCLUDES(mutex_);
  /// Makes an event of the piece stand for what `record` records into it; false when that failed.
  bool add_fence(Piece* piece, const std::function<CuResult(CuEvent)>& record);
  void free_all(std::vector<Piece> pieces);

  const std::shared_ptr<const CudaContext> context_;
  const CuStream stream_;
  const BirthProcess birth_;

  mutable Mutex mutex_;
  std::array<std::deque<Piece>, kSizeClasses> free_ HEADRACE_GUARDED_BY(mutex_);  // oldest first
  std::int64_t bytes_out_ HEADRACE_GUARDED_BY(mutex_) = 0;
};

}  // namespace headrace
