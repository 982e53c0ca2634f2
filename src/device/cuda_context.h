// CudaContext: the primary context of one CUDA device, which the frameworks of the process use too; retained until the last
// reference goes.
//
// The context is made current for each single call, so it does not matter on which thread that is, nor what was current there.
// Any thread. In a child of fork() nothing of it may be used; who can get there asks a BirthProcess first.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "device/cuda_driver.h"
#include "headrace/device.h"
#include "headrace/status.h"

namespace headrace {

class CudaContext {
 public:
  /// kDevice when there is no such device, or it cannot be used.
  static Result<std::shared_ptr<const CudaContext>> open(std::shared_ptr<const CudaDriver> driver,
                                                         const Device& device);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  const Device& device() const { return device_; }
  const CudaApi& api() const { return driver_->api(); }
  CuContext handle() const { return handle_; }

  /// Makes the context current on this thread for as long as it lives.
  class Current {
   public:
    explicit Current(const CudaContext& context)
        : context_(context), result_(context.api().context_push(context.handle())) {}
    ~Current() {
      CuContext popped = nullptr;
      if (result_ == kCuSuccess) static_cast<void>(context_.api().context_pop(&popped));
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
    /// kCuSuccess when it is.
    CuResult result() const { return result_; }

   private:
    const CudaContext& context_;
    const CuResult result_;
  };

  /// function(arguments...) in this context.
  template <class... Parameters, class... Arguments>
  CuResult run(const CudaFunction<Parameters...>& function, Arguments... arguments) const {
    const Current current(*this);
    return current.result() == kCuSuccess ? function(arguments...) : current.result();
  }
  /// The same; its failure names device and function.
  template <class... Parameters, class... Arguments>
  Status call(const CudaFunction<Parameters...>& function, Arguments... arguments) const {
    return check(run(function, arguments...), function);
  }
  /// The failure that `result` of `function` means.
  template <class... Parameters>
  Status check(CuResult result, const CudaFunction<Parameters...>& function) const {
    return driver_->check(result, device_.name, function.name());
  }

 private:
  CudaContext(std::shared_ptr<const CudaDriver> driver, Device device, CuDevice number, CuContext handle)
      : driver_(std::move(driver)), device_(std::move(device)), number_(number), handle_(handle) {}

  const std::shared_ptr<const CudaDriver> driver_;
  const Device device_;
  const CuDevice number_;
  const CuContext handle_;
};

}  // namespace headrace
