#include "base/cpu.h"

#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdint>

#include "base/environment.h"

namespace headrace {
namespace {

#if defined(__x86_64__)
constexpr unsigned kHygonEbx = 0x6F677948;  // "Hygo"
constexpr unsigned kZen3Family = 0x19;

// XCR0: which registers the operating system saves.
std::uint64_t saved_registers() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32) | low;
}

// AMD before Zen 3, and Hygon, take up to 250 cycles for a PEXT.
bool has_fast_pext(unsigned signature) {
  unsigned highest = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(0, &highest, &b, &c, &d) == 0) return false;
  const bool is_amd = b == signature_AMD_ebx && c == signature_AMD_ecx && d == signature_AMD_edx;
  const bool is_hygon = b == kHygonEbx;
  const unsigned family = (signature >> 8 & 0xF) + (signature >> 20 & 0xFF);
  return !is_hygon && !(is_amd && family < kZen3Family);
}

CpuFeatures detect() {
  CpuFeatures found;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return found;
  const unsigned signature = a;
  found.sse42 = (c & bit_SSE4_2) != 0;
  found.pclmul = (c & bit_PCLMUL) != 0;
  const std::uint64_t saved = (c & bit_OSXSAVE) != 0 ? saved_registers() : 0;
  const bool ymm = (saved & 0x06) == 0x06;
  const bool zmm = (saved & 0xE6) == 0xE6;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return found;
  found.avx2 = ymm && (b & bit_AVX2) != 0;
  found.vpclmul = found.avx2 && (c & bit_VPCLMULQDQ) != 0;
  found.bmi2 = (b & bit_BMI) != 0 && (b & bit_BMI2) != 0 && has_fast_pext(signature);
  constexpr unsigned kAvx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512VL;
  found.avx512 = zmm && (b & kAvx512) == kAvx512 && (c & bit_AVX512VBMI2) != 0;
  return found;
}
#else
CpuFeatures detect() { return {}; }
#endif

CpuFeatures allowed(CpuFeatures found) {
  const Result<std::string> choice = environment_cpu();
  // A bad value is reported when a pipeline opens; here it counts as "auto".
  const std::string limit = choice.ok() ? *choice : "auto";
  if (limit == "scalar") return {};
  if (limit == "sse42") found.avx2 = found.vpclmul = found.bmi2 = false;
  if (limit == "sse42" || limit == "avx2") found.avx512 = false;
  return found;
}

}  // namespace

const CpuFeatures& cpu_features() {
  static const CpuFeatures kFeatures = allowed(detect());
  return kFeatures;
}

}  // namespace headrace
