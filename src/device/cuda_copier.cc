#include "device/cuda_copier.h"

#include <utility>

namespace headrace {
namespace {

// Every tensor of `column`.
std::vector<Tensor*> tensors_of(Column* column) {
  std::vector<Tensor*> tensors{&column->values, &column->indices};
  for (Tensor& splits : column->row_splits) tensors.push_back(&splits);
  return tensors;
}

}  // namespace

CudaCopier::CudaCopier(std::shared_ptr<CudaMemory> memory) : memory_(std::move(memory)), context_(memory_->context()) {}

CudaCopier::~CudaCopier() {
  while (!copies_.empty()) static_cast<void>(finish());
  for (const CuEvent event : events_) static_cast<void>(context_.run(context_.api().event_destroy, event));
}

Result<Slice> CudaCopier::start(Slice slice) {
  HEADRACE_ASSIGN_OR_RETURN(const CuEvent done, take_event());
  Result<Slice> copied = queue_copies(slice);
  const Status marked =
      copied.ok() ? context_.call(context_.api().event_record, done, memory_->stream()) : copied.status();
  if (!marked.ok()) {
    // Some copies may be under way, and no event tells when they are over.
    static_cast<void>(context_.run(context_.api().context_synchronize));
    events_.push_back(done);
    return marked;
  }
  copies_.push_back({std::move(slice), done});
  return copied;
}

Result<Slice> CudaCopier::queue_copies(const Slice& slice) {
  Slice copied = slice;
  std::map<const Buffer*, BufferPtr> targets;
  for (Column& column : copied.columns) {
    if (column.values.dtype == DType::kBytes) continue;
    for (Tensor* tensor : tensors_of(&column)) {
      if (tensor->buffer == nullptr) continue;
      const BufferPtr source = tensor->buffer;
      BufferPtr& target = targets[source.get()];
      if (target == nullptr) {
        HEADRACE_ASSIGN_OR_RETURN(target, memory_->acquire(source->size()));
        HEADRACE_RETURN_IF_ERROR(
            context_.call(context_.api().copy_to_device, reinterpret_cast<CuAddress>(target->data()),
                          static_cast<const void*>(source->data()), source->size(), memory_->stream()));
      }
      if (tensor->data != nullptr) tensor->data = target->data() + (tensor->data - source->data());
      tensor->buffer = target;
    }
  }
  return copied;
}

Status CudaCopier::finish() {
  const Copy oldest = std::move(copies_.front());
  copies_.pop_front();
  events_.push_back(oldest.done);
  return context_.call(context_.api().event_synchronize, oldest.done);
}

Result<CuEvent> CudaCopier::take_event() {
  CuEvent event = nullptr;
  if (events_.empty()) {
    HEADRACE_RETURN_IF_ERROR(
        context_.call(context_.api().event_create, &event, kCuEventBlockingSync | kCuEventDisableTiming));
  } else {
    event = events_.back();
    events_.pop_back();
  }
  return event;
}

}  // namespace headrace
