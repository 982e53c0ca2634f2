// FakeCuda: the fake driver in a test, as new, and what it found. The library is loaded once a process.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "device/cuda_driver.h"
#include "fake_cuda/fake_cuda.h"

namespace headrace::testing {

class FakeCuda {
 public:
  explicit FakeCuda(const FakeCudaOptions& options = {}) {
    function<decltype(fake_cuda_reset)>("fake_cuda_reset")(&options);
  }
  /// Everything that was opened is closed by now, and nothing but what was expected was done that a driver may not forgive.
  ~FakeCuda() {
    EXPECT_EQ(violations(), expected_violations);
    const FakeCudaCounts left = counts();
    EXPECT_EQ(left.contexts, 0);
    EXPECT_EQ(left.streams, 0);
    EXPECT_EQ(left.events, 0);
    EXPECT_EQ(left.allocations, 0);
    EXPECT_EQ(left.pinned_ranges, 0);
  }
  FakeCuda(const FakeCuda&) = delete;
  FakeCuda& operator=(const FakeCuda&) = delete;

  std::string expected_violations;

  static std::string path() { return HEADRACE_FAKE_CUDA; }
  std::shared_ptr<const CudaDriver> driver() const {
    Result<std::shared_ptr<const CudaDriver>> loaded = CudaDriver::load(path());
    EXPECT_TRUE(loaded.ok()) << loaded.status().to_string();
    return *loaded;
  }
  void fail(int device, const char* name, int after, CuResult result, bool is_lost = false) const {
    function<decltype(fake_cuda_fail)>("fake_cuda_fail")(device, name, after, result, is_lost);
  }
  void release() const { function<decltype(fake_cuda_release)>("fake_cuda_release")(); }
  FakeCudaCounts counts() const {
    FakeCudaCounts counts;
    function<decltype(fake_cuda_count)>("fake_cuda_count")(&counts);
    return counts;
  }
  FakeCudaTotals totals() const {
    FakeCudaTotals totals;
    function<decltype(fake_cuda_total)>("fake_cuda_total")(&totals);
    return totals;
  }
  std::size_t memory_in_use(int device) const {
    return function<decltype(fake_cuda_memory_in_use)>("fake_cuda_memory_in_use")(device);
  }
  std::string violations() const {
    std::vector<char> text(4096);
    function<decltype(fake_cuda_violations)>("fake_cuda_violations")(text.data(), text.size());
    return text.data();
  }
  /// The bytes of device memory.
  std::vector<std::uint8_t> read(const void* address, std::size_t bytes) const {
    std::vector<std::uint8_t> read(bytes);
    const auto at = reinterpret_cast<std::uint64_t>(address);
    EXPECT_TRUE(function<decltype(fake_cuda_read)>("fake_cuda_read")(at, read.data(), bytes));
    return read;
  }
  /// A function of the library by its name.
  template <class Function>
  static Function* function(const char* name) {
    static void* const library = ::dlopen(HEADRACE_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<Function*>(::dlsym(library, name));
  }
};

}  // namespace headrace::testing
