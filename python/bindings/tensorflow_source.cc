#include "tensorflow_source.h"

#include <unistd.h>

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "../tensorflow_op/source_abi.h"
#include "headrace/report.h"

namespace headrace::python {
namespace {

std::uint64_t mix(std::uint64_t value) {  // SplitMix64's finaliser
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// What one call of next() or open() hands out; owned by the caller through HeadraceSlice::release.
struct Answer {
  std::vector<Tensor> parts;
  std::vector<HeadraceTensor> tensors;
  std::string text;
};

void release_answer(void* owner) { const std::unique_ptr<Answer> answer(static_cast<Answer*>(owner)); }
void release_buffer(void* owner) { const std::unique_ptr<BufferPtr> buffer(static_cast<BufferPtr*>(owner)); }

void give(std::unique_ptr<Answer> answer, HeadraceSlice* slice) {
  slice->text = answer->text.c_str();
  slice->tensors = answer->tensors.data();
  slice->count = static_cast<std::int32_t>(answer->tensors.size());
  slice->release = release_answer;
  slice->owner = answer.release();
}

void give_failure(const Status& status, HeadraceSlice* slice) {
  auto answer = std::make_unique<Answer>();
  answer->text = status.to_string();
  slice->outcome = kHeadraceFailure;
  slice->code = static_cast<std::int32_t>(status.code());
  give(std::move(answer), slice);
}

void give_arrays(std::vector<Tensor> arrays, const TensorflowSeed& seed, HeadraceSlice* slice) {
  auto answer = std::make_unique<Answer>();
  answer->parts = std::move(arrays);
  for (const Tensor& part : answer->parts) {
    answer->tensors.push_back({.dtype = static_cast<std::int32_t>(part.dtype),
                               .rank = static_cast<std::int32_t>(part.shape.size()),
                               .dims = part.shape.data(),
                               .data = part.data,
                               .bytes = part.bytes(),
                               .owner = std::make_unique<BufferPtr>(part.buffer).release(),
                               .release = release_buffer});
  }
  slice->outcome = kHeadraceValue;
  slice->seed[0] = seed.values[0];
  slice->seed[1] = seed.values[1];
  give(std::move(answer), slice);
}

/// What a source does while it is open.
class Body {
 public:
  explicit Body(std::shared_ptr<const TensorflowPlan> plan) : plan_(std::move(plan)) {}
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;
  virtual ~Body() = default;

  virtual void next(int replica, HeadraceSlice* slice) = 0;
  virtual void open(HeadraceSlice* slice) { give_failure(invalid_argument("this source is open already"), slice); }
  virtual void close() {}

 protected:
  const std::shared_ptr<const TensorflowPlan> plan_;
};

/// The few bytes behind an address.
class Shell {
 public:
  explicit Shell(std::shared_ptr<Body> body) : body_(std::move(body)) {}

  std::int64_t address() const { return reinterpret_cast<std::int64_t>(&abi_); }
  static Shell* at(std::int64_t address) {
    return static_cast<Shell*>(reinterpret_cast<const HeadraceSource*>(address)->self);
  }

  std::shared_ptr<Body> body() const {
    const std::lock_guard lock(mutex_);
    return body_;
  }
  void close() {
    if (getpid() != owner_) return;  // a child of fork(): the mutex may be held by a thread that is not here
    std::shared_ptr<Body> body;
    {
      const std::lock_guard lock(mutex_);
      body = std::exchange(body_, nullptr);
    }
    if (body != nullptr) body->close();
  }

 private:
  static void abi_next(void* self, std::int32_t replica, HeadraceSlice* slice) {
    if (const auto body = static_cast<Shell*>(self)->body()) return body->next(replica, slice);
    give_failure(cancelled("the source was closed"), slice);
  }
  static void abi_open(void* self, HeadraceSlice* slice) {
    if (const auto body = static_cast<Shell*>(self)->body()) return body->open(slice);
    give_failure(cancelled("the source was closed"), slice);
  }
  static void abi_close(void* self) { static_cast<Shell*>(self)->close(); }

  const HeadraceSource abi_{
      .abi = kHeadraceSourceAbi, .self = this, .next = abi_next, .open = abi_open, .close = abi_close};
  const pid_t owner_ = getpid();
  mutable std::mutex mutex_;
  std::shared_ptr<Body> body_;
};

struct Shells {
  std::mutex mutex;
  std::deque<Shell> all;
};

/// Never destroyed: threads of TensorFlow may still hold addresses while the process ends.
Shells& shells() {
  static Shells* const forever = std::make_unique<Shells>().release();
  return *forever;
}

std::int64_t add_shell(std::shared_ptr<Body> body) {
  Shells& known = shells();
  const std::lock_guard lock(known.mutex);
  return known.all.emplace_back(std::move(body)).address();
}

class PipelineBody final : public Body {
 public:
  PipelineBody(std::shared_ptr<Pipeline> pipeline, std::shared_ptr<const TensorflowPlan> plan)
      : Body(std::move(plan)),
        pipeline_(std::move(pipeline)),
        seed_(pipeline_seed(*pipeline_)),
        turns_(static_cast<std::size_t>(pipeline_->replicas())) {}

  void next(int replica, HeadraceSlice* slice) override {
    if (replica < 0 || replica >= pipeline_->replicas()) {
      return give_failure(invalid_argument("there is no replica " + std::to_string(replica)), slice);
    }
    // A graph may run two ops of one replica at once; next_slice() takes one caller each.
    const std::lock_guard turn(turns_[static_cast<std::size_t>(replica)]);
    Result<std::optional<Slice>> taken = pipeline_->next_slice(replica);
    if (!taken.ok()) return give_failure(taken.status(), slice);
    if (!*taken) {
      slice->outcome = kHeadraceEnd;
      return give(std::make_unique<Answer>(), slice);
    }
    const Slice& from = **taken;
    Result<std::vector<Tensor>> arrays = plan_->expand(from);
    if (!arrays.ok()) return give_failure(arrays.status(), slice);
    give_arrays(*std::move(arrays), tensorflow_seed(seed_, from.epoch, from.batch_number, replica), slice);
  }

  void close() override { pipeline_->close(); }

 private:
  const std::shared_ptr<Pipeline> pipeline_;
  const std::int64_t seed_;
  std::deque<std::mutex> turns_;  // one per replica
};

class DatasetBody final : public Body {
 public:
  DatasetBody(Dataset dataset, std::shared_ptr<const TensorflowPlan> plan)
      : Body(std::move(plan)), dataset_(std::move(dataset)) {}

  void next(int, HeadraceSlice* slice) override {
    give_failure(invalid_argument("this source must be opened first"), slice);
  }

  void open(HeadraceSlice* slice) override {
    Result<Pipeline> pipeline = dataset_.open();
    if (!pipeline.ok()) return give_failure(pipeline.status(), slice);
    auto shared = std::make_shared<Pipeline>(*std::move(pipeline));
    slice->source = open_pipeline_source(std::move(shared), plan_);
    slice->outcome = kHeadraceValue;
    give(std::make_unique<Answer>(), slice);
  }

 private:
  const Dataset dataset_;
};

class BatchBody final : public Body {
 public:
  using Body::Body;

  void set(std::vector<std::shared_ptr<const Slice>> slices) {
    const std::lock_guard lock(mutex_);
    slices_ = std::move(slices);
  }

  void next(int replica, HeadraceSlice* slice) override {
    std::shared_ptr<const Slice> from;
    {
      const std::lock_guard lock(mutex_);
      if (replica >= 0 && static_cast<std::size_t>(replica) < slices_.size()) {
        from = slices_[static_cast<std::size_t>(replica)];
      }
    }
    if (from == nullptr) return give_failure(invalid_argument("the batch has no slice for this replica"), slice);
    Result<std::vector<Tensor>> arrays = plan_->expand(*from);
    if (!arrays.ok()) return give_failure(arrays.status(), slice);
    give_arrays(*std::move(arrays), TensorflowSeed{}, slice);
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<const Slice>> slices_;
};

}  // namespace

TensorflowSeed tensorflow_seed(std::int64_t seed, std::int64_t epoch, std::int64_t batch_number, std::int64_t replica) {
  std::uint64_t value = mix(static_cast<std::uint64_t>(seed));
  value = mix(value ^ static_cast<std::uint64_t>(epoch));
  value = mix(value ^ static_cast<std::uint64_t>(batch_number));
  value = mix(value ^ static_cast<std::uint64_t>(replica));
  return {{static_cast<std::int32_t>(value >> 32), static_cast<std::int32_t>(value)}};
}

std::int64_t pipeline_seed(const Pipeline& pipeline) {
  const Result<Report> found = report(pipeline);  // fails for a pipeline of the parent, which gives no batch either
  return found.ok() && !found->seeds.empty() ? found->seeds.front() : 0;
}

std::int64_t open_pipeline_source(std::shared_ptr<Pipeline> pipeline, std::shared_ptr<const TensorflowPlan> plan) {
  return add_shell(std::make_shared<PipelineBody>(std::move(pipeline), std::move(plan)));
}

std::int64_t open_dataset_source(Dataset dataset, std::shared_ptr<const TensorflowPlan> plan) {
  return add_shell(std::make_shared<DatasetBody>(std::move(dataset), std::move(plan)));
}

std::int64_t open_batch_source(std::shared_ptr<const TensorflowPlan> plan) {
  return add_shell(std::make_shared<BatchBody>(std::move(plan)));
}

void set_source_batch(std::int64_t address, std::vector<std::shared_ptr<const Slice>> slices) {
  const auto body = std::dynamic_pointer_cast<BatchBody>(Shell::at(address)->body());
  if (body != nullptr) body->set(std::move(slices));
}

void close_tensorflow_source(std::int64_t address) { Shell::at(address)->close(); }

void close_all_tensorflow_sources() {
  Shells& known = shells();
  std::vector<Shell*> open;
  {
    const std::lock_guard lock(known.mutex);
    for (Shell& shell : known.all) open.push_back(&shell);
  }
  for (Shell* shell : open) shell->close();
}

}  // namespace headrace::python
