#include "gpu/kernels.h"

#include <array>
#include <utility>

namespace headrace::gpu_check {
namespace {

constexpr unsigned kSumThreads = 256;

constexpr const char* kPtx = R"(
.version 6.5
.target sm_75
.address_size 64

.visible .entry headrace_sum(.param .u64 data, .param .u64 words, .param .u64 out)
{
  .shared .align 8 .u64 total;
  .reg .pred %is_other, %at_end;
  .reg .b32 %thread, %threads;
  .reg .b64 %data, %words, %out, %i, %step, %sum, %offset, %word, %factor, %old;

  ld.param.u64 %data, [data];
  cvta.to.global.u64 %data, %data;
  ld.param.u64 %words, [words];
  ld.param.u64 %out, [out];
  cvta.to.global.u64 %out, %out;
  mov.u32 %thread, %tid.x;
  mov.u32 %threads, %ntid.x;
  cvt.u64.u32 %i, %thread;
  cvt.u64.u32 %step, %threads;
  mov.u64 %sum, 0;
  setp.ne.u32 %is_other, %thread, 0;
  @%is_other bra BEGIN;
  st.shared.u64 [total], %sum;
BEGIN:
  bar.sync 0;
NEXT:
  setp.ge.u64 %at_end, %i, %words;
  @%at_end bra END;
  shl.b64 %offset, %i, 3;
  add.u64 %offset, %data, %offset;
  ld.global.u64 %word, [%offset];
  add.u64 %factor, %i, 1;
  mad.lo.u64 %sum, %word, %factor, %sum;
  add.u64 %i, %i, %step;
  bra NEXT;
END:
  atom.shared.add.u64 %old, [total], %sum;
  bar.sync 0;
  @%is_other bra DONE;
  ld.shared.u64 %sum, [total];
  st.global.u64 [%out], %sum;
DONE:
  ret;
}

.visible .entry headrace_spin(.param .u64 nanoseconds)
{
  .reg .pred %is_early;
  .reg .b64 %length, %begin, %now;

  ld.param.u64 %length, [nanoseconds];
  mov.u64 %begin, %globaltimer;
NEXT:
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %begin;
  setp.lt.u64 %is_early, %now, %length;
  @%is_early bra NEXT;
  ret;
}
)";

}  // namespace

struct Kernels::Api {
  explicit Api(void* handle) : library{handle, {}} {}

  CudaLibrary library;
  CudaFunction<char*, int, CuDevice> device_get_name{library, "cuDeviceGetName"};
  CudaFunction<CuModule*, const void*> module_load{library, "cuModuleLoadData"};
  CudaFunction<CuModule> module_unload{library, "cuModuleUnload"};
  CudaFunction<CuFunction*, CuModule, const char*> module_get_function{library, "cuModuleGetFunction"};
  CudaFunction<CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CuStream, void**,
               void**>
      launch{library, "cuLaunchKernel"};
  CudaFunction<void*, CuAddress, std::size_t, CuStream> copy_to_host{library, "cuMemcpyDtoHAsync_v2"};
};

Result<std::unique_ptr<Kernels>> Kernels::load(std::shared_ptr<const CudaContext> context, const std::string& library) {
  auto api = std::make_unique<Api>(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!api->library.missing.empty()) {
    return Status(StatusCode::kDevice, library + " has no " + api->library.missing[0]);
  }
  std::unique_ptr<Kernels> kernels(new Kernels(std::move(context), std::move(api)));
  HEADRACE_RETURN_IF_ERROR(kernels->start());
  return kernels;
}

Kernels::Kernels(std::shared_ptr<const CudaContext> context, std::unique_ptr<Api> api)
    : context_(std::move(context)), api_(std::move(api)) {}

Kernels::~Kernels() {
  if (module_ != nullptr) static_cast<void>(context_->run(api_->module_unload, module_));
}

Status Kernels::start() {
  HEADRACE_RETURN_IF_ERROR(context_->call(api_->module_load, &module_, static_cast<const void*>(kPtx)));
  HEADRACE_RETURN_IF_ERROR(context_->call(api_->module_get_function, &sum_, module_, "headrace_sum"));
  return context_->call(api_->module_get_function, &spin_, module_, "headrace_spin");
}

Status Kernels::launch(CuFunction kernel, unsigned threads, CuStream stream, void** arguments) const {
  void** const no_extra = nullptr;
  return context_->call(api_->launch, kernel, 1U, 1U, 1U, threads, 1U, 1U, 0U, stream, arguments, no_extra);
}

Status Kernels::sum(CuStream stream, CuAddress data, std::uint64_t words, CuAddress out) const {
  std::array<void*, 3> arguments{&data, &words, &out};
  return launch(sum_, kSumThreads, stream, arguments.data());
}

Status Kernels::spin(CuStream stream, std::uint64_t nanoseconds) const {
  std::array<void*, 1> arguments{&nanoseconds};
  return launch(spin_, 1, stream, arguments.data());
}

Status Kernels::read(CuStream stream, void* to, CuAddress from, std::size_t bytes) const {
  return context_->call(api_->copy_to_host, to, from, bytes, stream);
}

std::string Kernels::device_name() const {
  std::array<char, 128> name{};
  const CuResult result = api_->device_get_name(name.data(), static_cast<int>(name.size()), context_->device().index);
  return result == kCuSuccess ? name.data() : "a device without a name";
}

}  // namespace headrace::gpu_check
