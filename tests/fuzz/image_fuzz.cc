// An image file, and what it is decoded to. The first byte of the input chooses the options, the others are the file.
//
// Header, limits and decoders must stand any bytes; what is written stays in the slot, and a second decode by the same
// decoder gives the same pixels.
#include <array>
#include <cstring>
#include <memory>

#include "fuzz/same_column.h"
#include "image/image_decoder.h"

namespace headrace {
namespace {

constexpr std::int64_t kMaxPixels = 1 << 16;  // of a file: time is for paths
constexpr std::size_t kGuard = 16;

struct Column {
  ImageOptions options;
  DType dtype;
  Shape shape;
};

Column column_of(std::uint8_t choice) {
  Column column{{}, DType::kUint8, {9, 13, (choice & 1) != 0 ? 1 : 3}};
  ImageOptions& options = column.options;
  options.max_pixels = kMaxPixels;
  if ((choice & 2) != 0) column.shape[2] = 4;
  if ((choice & 4) != 0) options.crop = RandomResizedCrop();
  if ((choice & 8) != 0) options.crop = FixedCrop{3, 2, 9, 13};
  if ((choice & 16) != 0) options.resize = ImageResize::kAntialias;
  options.reduce = (choice & 32) == 0;
  if ((choice & 64) != 0) {
    column.dtype = DType::kFloat32;
    options.mean = {1};
  }
  options.random_flip = (choice & 128) != 0;
  return column;
}

void decode(std::uint8_t choice, std::span<const std::uint8_t> bytes) {
  const Column column = column_of(choice);
  fuzz::require(column.options.validate(column.dtype, column.shape).ok());
  // A copy of exactly the file's size: a sanitizer sees every byte that is read beyond.
  const auto file = std::make_unique<std::uint8_t[]>(bytes.size());
  if (!bytes.empty()) std::memcpy(file.get(), bytes.data(), bytes.size());
  const std::size_t size = static_cast<std::size_t>(element_count(column.shape)) * size_of(column.dtype);
  const auto slot = std::make_unique<std::uint8_t[]>(size + kGuard);
  const auto again = std::make_unique<std::uint8_t[]>(size + kGuard);
  ImageDecoder decoder(column.options, column.dtype, column.shape);
  const Status first = decoder.decode({file.get(), bytes.size()}, choice, slot.get());
  for (std::size_t i = size; i < size + kGuard; ++i) fuzz::require(slot[i] == 0);
  const Status second = decoder.decode({file.get(), bytes.size()}, choice, again.get());
  fuzz::require(first.message() == second.message());
  if (first.ok()) fuzz::require(std::memcmp(slot.get(), again.get(), size) == 0);
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) headrace::decode(data[0], {data + 1, size - 1});
  return 0;
}
