#include "gpu/checks.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace headrace::gpu_check {
namespace {

constexpr int kRepeats = 3;
constexpr double kSupplyOverDemand = 1.25;

// A stream of a consumer and device memory of its own.
class Consumer {
 public:
  static Result<std::unique_ptr<Consumer>> open(const Bench& bench, std::size_t bytes) {
    std::unique_ptr<Consumer> made(new Consumer(*bench.context));
    const CudaApi& api = bench.context->api();
    HEADRACE_RETURN_IF_ERROR(bench.context->call(api.stream_create, &made->stream, kCuStreamNonBlocking));
    HEADRACE_RETURN_IF_ERROR(bench.context->call(api.memory_allocate, &made->memory, bytes, made->stream));
    HEADRACE_RETURN_IF_ERROR(bench.context->call(api.event_create, &made->done_, kCuEventDisableTiming));
    return made;
  }
  ~Consumer() {
    static_cast<void>(wait());
    if (memory != 0) static_cast<void>(context_.run(context_.api().memory_free, memory, stream));
    if (done_ != nullptr) static_cast<void>(context_.run(context_.api().event_destroy, done_));
    if (stream != nullptr) static_cast<void>(context_.run(context_.api().stream_destroy, stream));
  }
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  /// Until all that the stream has is done.
  Status wait() {
    HEADRACE_RETURN_IF_ERROR(context_.call(context_.api().event_record, done_, stream));
    return context_.call(context_.api().event_synchronize, done_);
  }

  CuStream stream = nullptr;
  CuAddress memory = 0;

 private:
  explicit Consumer(const CudaContext& context) : context_(context) {}
  const CudaContext& context_;
  CuEvent done_ = nullptr;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

CuAddress address_of(const Slice& slice) { return reinterpret_cast<CuAddress>(slice.columns[0].values.data); }

void read_on(const Slice& slice, std::optional<CuStream> stream) {
  const BufferPtr& buffer = slice.columns[0].values.buffer;
  buffer->read_by(stream ? std::optional(reinterpret_cast<std::uintptr_t>(*stream)) : std::nullopt);
}

Status unexpected_end() { return {StatusCode::kDevice, "the stream of batches ended early"}; }

Result<double> time_plain_copies(const Bench& bench) {
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<Consumer> consumer, Consumer::open(bench, bench.slices.bytes()));
  HEADRACE_RETURN_IF_ERROR(consumer->wait());
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < bench.batches; ++k) {
    const Tensor& from = bench.slices.at(k).columns[0].values;
    HEADRACE_RETURN_IF_ERROR(bench.context->call(bench.context->api().copy_to_device, consumer->memory,
                                                 static_cast<const void*>(from.data), from.bytes(), consumer->stream));
  }
  HEADRACE_RETURN_IF_ERROR(consumer->wait());
  return seconds_since(begin);
}

Result<double> time_fed_copies(const Bench& bench) {
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<FedDevice> fed,
                            FedDevice::open(bench.context->device(), bench.library, 1, bench.batches, bench.slices));
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < bench.batches; ++k) {
    HEADRACE_ASSIGN_OR_RETURN(const std::optional<Batch> batch, fed->next());
    if (!batch) return unexpected_end();
  }
  return seconds_since(begin);
}

// The kernels of a whole run, each over a batch of its own when `fed` is not null; without the time of the first batch.
Result<double> time_kernels(const Bench& bench, std::uint64_t nanoseconds, FedDevice* fed) {
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<Consumer> consumer, Consumer::open(bench, 8));
  std::optional<Batch> batch;
  if (fed != nullptr) {
    HEADRACE_ASSIGN_OR_RETURN(batch, fed->next());
  }
  HEADRACE_RETURN_IF_ERROR(consumer->wait());
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < bench.batches; ++k) {
    if (fed != nullptr && k > 0) {
      HEADRACE_ASSIGN_OR_RETURN(batch, fed->next());
    }
    if (fed != nullptr && !batch) return unexpected_end();
    if (batch) read_on(batch->replicas[0], consumer->stream);
    HEADRACE_RETURN_IF_ERROR(bench.kernels.spin(consumer->stream, nanoseconds));
    batch.reset();
  }
  HEADRACE_RETURN_IF_ERROR(consumer->wait());
  return seconds_since(begin);
}

}  // namespace

Result<std::int64_t> count_wrong(const Bench& bench, int feeds, bool names_stream) {
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(bench.batches * feeds));
  HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<Consumer> consumer, Consumer::open(bench, 8 * sums.size()));
  HEADRACE_ASSIGN_OR_RETURN(
      const std::unique_ptr<FedDevice> fed,
      FedDevice::open(bench.context->device(), bench.library, feeds, bench.batches, bench.slices));
  std::size_t place = 0;
  for (int k = 0; k < bench.batches; ++k) {
    HEADRACE_ASSIGN_OR_RETURN(const std::optional<Batch> batch, fed->next());
    if (!batch) return unexpected_end();
    for (const Slice& slice : batch->replicas) {
      read_on(slice, names_stream ? std::optional(consumer->stream) : std::nullopt);
      HEADRACE_RETURN_IF_ERROR(bench.kernels.sum(consumer->stream, address_of(slice), bench.slices.bytes() / 8,
                                                 consumer->memory + 8 * place++));
    }
  }
  HEADRACE_RETURN_IF_ERROR(bench.kernels.read(consumer->stream, sums.data(), consumer->memory, 8 * sums.size()));
  HEADRACE_RETURN_IF_ERROR(consumer->wait());
  std::int64_t wrong = 0;
  for (std::size_t n = 0; n < sums.size(); ++n) wrong += sums[n] != bench.slices.sum_at(static_cast<std::int64_t>(n));
  return wrong;
}

Result<Bandwidth> measure_bandwidth(const Bench& bench) {
  const double bytes = static_cast<double>(bench.slices.bytes()) * bench.batches;
  Bandwidth best;
  for (int i = 0; i < kRepeats; ++i) {
    HEADRACE_ASSIGN_OR_RETURN(const double plain, time_plain_copies(bench));
    HEADRACE_ASSIGN_OR_RETURN(const double fed, time_fed_copies(bench));
    best.plain = std::max(best.plain, bytes / plain);
    best.fed = std::max(best.fed, bytes / fed);
  }
  return best;
}

Result<Idle> measure_idle(const Bench& bench, double bandwidth) {
  const double copy_seconds = static_cast<double>(bench.slices.bytes()) / bandwidth;
  const auto nanoseconds = static_cast<std::uint64_t>(1e9 * kSupplyOverDemand * copy_seconds);
  Idle best{.gap = 1e9};
  for (int i = 0; i < kRepeats; ++i) {
    HEADRACE_ASSIGN_OR_RETURN(const double alone, time_kernels(bench, nanoseconds, nullptr));
    HEADRACE_ASSIGN_OR_RETURN(const std::unique_ptr<FedDevice> fed,
                              FedDevice::open(bench.context->device(), bench.library, 1, bench.batches, bench.slices));
    HEADRACE_ASSIGN_OR_RETURN(const double with_batches, time_kernels(bench, nanoseconds, fed.get()));
    const double longer = with_batches - alone;
    if (longer / alone < best.gap) best = {longer / alone, 1 - std::max(0.0, longer) / (copy_seconds * bench.batches)};
  }
  return best;
}

}  // namespace headrace::gpu_check
