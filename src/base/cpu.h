// What this CPU can do, by our own CPUID check. Read once; any thread.
#pragma once

namespace headrace {

struct CpuFeatures {
  bool sse42 = false;
  bool pclmul = false;
  bool avx2 = false;
  bool vpclmul = false;  ///< VPCLMULQDQ of 32 bytes, and AVX2
  bool bmi2 = false;     ///< BMI1 and BMI2 whose PEXT and PDEP are instructions, not loops of microcode
  bool avx512 = false;   ///< F, BW, VL and VBMI2, with operating-system support
};

/// Detected features, cut down by HEADRACE_CPU ("scalar", "sse42", "avx2", "avx512", "auto").
const CpuFeatures& cpu_features();

}  // namespace headrace
