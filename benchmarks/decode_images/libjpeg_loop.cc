// libjpeg-turbo alone: JPEG files in memory, the window in the middle, at the reduction that still has the pixels of the output;
// rows are thrown away. The bound of a decoder that uses it. Arguments: seconds, warm-up seconds, part of each side, side of the
// output, a file of [uint32 size][JPEG] entries. Prints one line: images, wall seconds, CPU seconds.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>
// libjpeg's header needs <cstdio> before it.
#include <jpeglib.h>

#include "benchmarks/harness/loop_clock.h"

namespace {

class Loop {
 public:
  Loop(double part, unsigned side) : part_(part), side_(side) {
    info_.err = jpeg_std_error(&errors_);
    jpeg_create_decompress(&info_);
  }

  void decode(const std::uint8_t* file, std::size_t size) {
    jpeg_mem_src(&info_, file, size);
    jpeg_read_header(&info_, TRUE);
    const unsigned top = margin(info_.image_height);
    const unsigned left = margin(info_.image_width);
    const unsigned height = info_.image_height - 2 * top;
    const unsigned width = info_.image_width - 2 * left;
    unsigned reduction = 8;
    while (reduction > 1 && (height < reduction * side_ || width < reduction * side_)) reduction /= 2;
    info_.scale_num = 1;
    info_.scale_denom = reduction;
    info_.dct_method = JDCT_IFAST;
    info_.out_color_space = JCS_RGB;
    jpeg_start_decompress(&info_);
    const auto up = [reduction](unsigned at) { return (at + reduction - 1) / reduction; };
    JDIMENSION first = left / reduction;
    JDIMENSION columns = up(left + width) - first;
    if (columns < info_.output_width) jpeg_crop_scanline(&info_, &first, &columns);
    row_.resize(3 * std::size_t{info_.output_width});
    if (top / reduction > 0) jpeg_skip_scanlines(&info_, top / reduction);
    JSAMPROW row = row_.data();
    for (unsigned y = top / reduction; y < up(top + height); ++y) jpeg_read_scanlines(&info_, &row, 1);
    jpeg_abort_decompress(&info_);
  }

 private:
  unsigned margin(unsigned side) const { return static_cast<unsigned>((side - side * part_) / 2); }

  const double part_;
  const unsigned side_;
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  std::vector<std::uint8_t> row_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 6) return 2;
  std::ifstream file(arguments[5], std::ios::binary);
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  Loop loop(std::atof(arguments[3]), static_cast<unsigned>(std::atoi(arguments[4])));
  std::size_t at = 0;
  const auto run = [&](double seconds) {
    long long images = 0;
    for (const double end = now_s() + seconds; now_s() < end; ++images) {
      std::uint32_t size;
      std::memcpy(&size, bytes.data() + at, sizeof size);
      loop.decode(bytes.data() + at + sizeof size, size);
      at += sizeof size + size;
      if (at >= bytes.size()) at = 0;
    }
    return images;
  };
  run(std::atof(arguments[2]));
  const double cpu = cpu_s();
  const double wall = now_s();
  const long long images = run(std::atof(arguments[1]));
  std::printf("%lld %.6f %.6f\n", images, now_s() - wall, cpu_s() - cpu);
  return 0;
}
