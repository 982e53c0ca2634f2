#include "device/cuda_memory.h"

#include <algorithm>
#include <string>
#include <utility>

namespace headrace {

class CudaMemory::PieceBuffer : public Buffer {
 public:
  PieceBuffer(Piece piece, std::size_t bytes, std::shared_ptr<CudaMemory> memory)
      : Buffer(reinterpret_cast<std::uint8_t*>(piece.address), bytes),
        piece_(std::move(piece)),
        memory_(std::move(memory)) {}
  ~PieceBuffer() override {
    if (memory_->birth_.is_parent()) {
      never_destroy(std::move(memory_));
    } else {
      memory_->release(std::move(piece_), readers_);
    }
  }

  const Device* device() const override { return &memory_->context().device(); }
  void read_by(std::optional<std::uintptr_t> stream) override {
    MutexLock lock(mutex_);
    // The default stream of the thread that asks is another one on the thread that releases.
    if (!stream || *stream == kCuStreamPerThread) {
      readers_.anyone = true;
    } else if (std::find(readers_.streams.begin(), readers_.streams.end(), *stream) == readers_.streams.end()) {
      readers_.streams.push_back(*stream);
    }
  }

 private:
  Piece piece_;
  std::shared_ptr<CudaMemory> memory_;
  Mutex mutex_;
  Readers readers_;  // guarded by mutex_ until the last reference goes
};

Result<std::shared_ptr<CudaMemory>> CudaMemory::open(std::shared_ptr<const CudaContext> context) {
  CuStream stream = nullptr;
  HEADRACE_RETURN_IF_ERROR(context->call(context->api().stream_create, &stream, kCuStreamNonBlocking));
  return std::shared_ptr<CudaMemory>(new CudaMemory(std::move(context), stream));
}

CudaMemory::CudaMemory(std::shared_ptr<const CudaContext> context, CuStream stream)
    : context_(std::move(context)), stream_(stream) {}

// Of what fails here nobody can be told; the driver frees the memory of a context that goes away.
CudaMemory::~CudaMemory() {
  std::vector<Piece> pieces;
  {
    MutexLock lock(mutex_);
    for (auto& of_class : free_) std::move(of_class.begin(), of_class.end(), std::back_inserter(pieces));
  }
  free_all(std::move(pieces));
  static_cast<void>(context_->run(context_->api().stream_destroy, stream_));
}

Result<BufferPtr> CudaMemory::acquire(std::size_t bytes) {
  const std::size_t size_class = size_class_of(bytes);
  if (size_class >= kSizeClasses) {
    return Status(StatusCode::kDevice, context_->device().name + ": no memory for " + std::to_string(bytes) + " bytes");
  }
  std::optional<Piece> recycled = take_free(size_class);
  if (!recycled) {
    HEADRACE_ASSIGN_OR_RETURN(recycled, allocate(size_class));
  }
  {
    MutexLock lock(mutex_);
    bytes_out_ += static_cast<std::int64_t>(size_class_bytes(size_class));
  }
  // From here on the buffer sees to the piece, whatever fails.
  const Status waited = wait_for_readers(&*recycled);
  BufferPtr buffer = std::make_shared<PieceBuffer>(std::move(*recycled), bytes, shared_from_this());
  HEADRACE_RETURN_IF_ERROR(waited);
  return buffer;
}

std::optional<CudaMemory::Piece> CudaMemory::take_free(std::size_t size_class) {
  MutexLock lock(mutex_);
  std::deque<Piece>& of_class = free_[size_class];
  if (of_class.empty()) return std::nullopt;
  Piece piece = std::move(of_class.front());  // whose readers are done first
  of_class.pop_front();
  return piece;
}

Result<CudaMemory::Piece> CudaMemory::allocate(std::size_t size_class) {
  Piece piece;
  piece.size_class = size_class;
  const auto ask = [this, &piece] {
    return context_->run(context_->api().memory_allocate, &piece.address, size_class_bytes(piece.size_class), stream_);
  };
  CuResult result = ask();
  if (result == kCuOutOfMemory) {
    std::vector<Piece> unused;
    {
      MutexLock lock(mutex_);
      for (auto& of_class : free_) {
        std::move(of_class.begin(), of_class.end(), std::back_inserter(unused));
        of_class.clear();
      }
    }
    if (!unused.empty()) {
      free_all(std::move(unused));
      result = ask();
    }
  }
  if (result == kCuSuccess) return piece;
  const Status failed = context_->check(result, context_->api().memory_allocate);
  if (result != kCuOutOfMemory) return failed;
  return Status(StatusCode::kDevice, failed.message() + ": " + std::to_string(size_class_bytes(size_class)) +
                                         " bytes for a batch, with " + std::to_string(bytes_out()) +
                                         " bytes in batches that are ready or held by the consumer");
}

Status CudaMemory::wait_for_readers(Piece* piece) {
  for (std::size_t i = 0; i < piece->fences; ++i) {
    HEADRACE_RETURN_IF_ERROR(context_->call(context_->api().stream_wait_event, stream_, piece->events[i], 0U));
  }
  if (piece->waits_for_context) HEADRACE_RETURN_IF_ERROR(context_->call(context_->api().context_synchronize));
  piece->fences = 0;
  piece->waits_for_context = false;
  return {};
}

bool CudaMemory::add_fence(Piece* piece, const std::function<CuResult(CuEvent)>& record) {
  if (piece->fences == piece->events.size()) {
    CuEvent event = nullptr;
    if (context_->run(context_->api().event_create, &event, kCuEventDisableTiming) != kCuSuccess) return false;
    piece->events.push_back(event);
  }
  if (record(piece->events[piece->fences]) != kCuSuccess) return false;
  ++piece->fences;
  return true;
}

// A fence that cannot be set becomes a wait of the host for the whole context; if the device is lost, that wait tells.
void CudaMemory::release(Piece piece, const Readers& readers) {
  const CudaApi& api = context_->api();
  bool all_fenced = true;
  for (const std::uintptr_t stream : readers.streams) {
    all_fenced &= add_fence(&piece, [&](CuEvent event) {
      return context_->run(api.event_record, event, reinterpret_cast<CuStream>(stream));
    });
  }
  if (readers.anyone) {
    all_fenced &= api.context_record_event && add_fence(&piece, [&](CuEvent event) {
                    return context_->run(api.context_record_event, context_->handle(), event);
                  });
  }
  piece.waits_for_context |= !all_fenced;
  MutexLock lock(mutex_);
  bytes_out_ -= static_cast<std::int64_t>(size_class_bytes(piece.size_class));
  free_[piece.size_class].push_back(std::move(piece));
}

void CudaMemory::free_all(std::vector<Piece> pieces) {
  for (Piece& piece : pieces) {
    static_cast<void>(wait_for_readers(&piece));
    static_cast<void>(context_->run(context_->api().memory_free, piece.address, stream_));
    for (const CuEvent event : piece.events) static_cast<void>(context_->run(context_->api().event_destroy, event));
  }
}

std::int64_t CudaMemory::bytes_out() const {
  MutexLock lock(mutex_);
  return bytes_out_;
}

}  // namespace headrace
