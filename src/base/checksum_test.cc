#include "base/checksum.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/checksum_kernels.h"
#include "base/cpu.h"
#include "base/random.h"

namespace headrace {
namespace {

const std::uint8_t* bytes(const char* text) { return reinterpret_cast<const std::uint8_t*>(text); }

TEST(Checksum, KnownValues) {
  EXPECT_EQ(crc32c(nullptr, 0), 0U);
  EXPECT_EQ(crc32c(bytes("123456789"), 9), 0xE3069283U);
  const std::vector<std::uint8_t> zeros(32, 0);  // RFC 3720, B.4
  EXPECT_EQ(crc32c(zeros.data(), zeros.size()), 0x8A9136AAU);
  EXPECT_EQ(crc32c_scalar(zeros.data(), zeros.size()), 0x8A9136AAU);
}

TEST(Checksum, MaskIsTfRecords) {
  // Header of an empty record as TensorFlow writes it: eight zero bytes, then 29 03 98 07.
  const std::vector<std::uint8_t> zeros(8, 0);
  EXPECT_EQ(mask_crc(crc32c(zeros.data(), zeros.size())), 0x07980329U);
}

std::vector<CrcKernel> kernels() {
  std::vector<CrcKernel> found;
  if (!cpu_features().sse42 || !cpu_features().pclmul) return found;
  for (const CrcKernel kernel : {crc32c_sse42_kernel(), crc32c_isal_kernel(), crc32c_pclmul_kernel()}) {
    if (kernel != nullptr) found.push_back(kernel);
  }
  if (cpu_features().vpclmul && crc32c_vpclmul_kernel() != nullptr) found.push_back(crc32c_vpclmul_kernel());
  return found;
}

TEST(Checksum, KernelsAgreeWithTheScalarTwinAtEveryLengthAndAlignment) {
  std::vector<std::uint8_t> data(20000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(random_u64(1, i));
  std::vector<std::size_t> sizes;
  for (std::size_t size = 0; size < 700; ++size) sizes.push_back(size);
  for (std::size_t size = 700; size < 20'000; size += 59) sizes.push_back(size);
  for (std::size_t size : {3071U, 3072U, 3073U, 6143U, 9216U, 9300U, 19990U}) sizes.push_back(size);
  for (const CrcKernel kernel : kernels()) {
    for (const std::size_t size : sizes) {
      const std::size_t shift = size % 8;
      ASSERT_EQ(kernel(data.data() + shift, size), crc32c_scalar(data.data() + shift, size)) << size;
    }
  }
}

TEST(Checksum, KernelNameIsOneOfFive) {
  const std::string name = crc32c_kernel();
  EXPECT_TRUE(name == "scalar" || name == "sse42" || name == "isal" || name == "pclmul" || name == "vpclmul") << name;
}

}  // namespace
}  // namespace headrace
