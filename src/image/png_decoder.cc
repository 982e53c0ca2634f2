#include "image/png_decoder.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <string>

namespace headrace {
namespace {

// Text and profiles are skipped; a chunk that must be read cannot be larger than the largest palette needs.
constexpr png_alloc_size_t kMostChunkBytes = 1 << 20;
// An interlaced file needs all of its rows at once; after a large one their memory is given back.
constexpr std::size_t kKeptBytes = std::size_t{64} << 20;

/// One file on its way through libpng.
struct Reader {
  std::span<const std::uint8_t> rest;
  png_structp png = nullptr;
  png_infop info = nullptr;
  bool is_cut = false;
  std::array<char, 128> message{};

  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }

  static void read(png_structp png, png_bytep to, std::size_t bytes) {
    auto* self = static_cast<Reader*>(png_get_io_ptr(png));
    if (bytes > self->rest.size()) {
      self->is_cut = true;
      png_error(png, "the file ends too early");
    }
    std::memcpy(to, self->rest.data(), bytes);
    self->rest = self->rest.subspan(bytes);
  }
  [[noreturn]] static void fail(png_structp png, png_const_charp text) {
    auto* self = static_cast<Reader*>(png_get_error_ptr(png));
    std::strncpy(self->message.data(), text, self->message.size() - 1);
    png_longjmp(png, 1);
  }
  static void warn(png_structp, png_const_charp) {}

  bool start(std::span<const std::uint8_t> file);
  bool convert(const ImageHeader& header, int channels);
  bool read_rows(const PixelRange& range, std::uint8_t* unused_row, RowSink& sink);
  bool read_interlaced(std::uint8_t** rows);
  Status failure() const;
};

// No object with a destructor lives across setjmp, here and below.
bool Reader::start(std::span<const std::uint8_t> file) {
  rest = file;
  png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, warn);
  if (png == nullptr) return false;
  info = png_create_info_struct(png);
  if (info == nullptr) return false;
  if (setjmp(png_jmpbuf(png)) != 0) return false;  // NOLINT(cert-err52-cpp)
  png_set_read_fn(png, this, read);
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // check_image_size() has the limit
  png_set_chunk_malloc_max(png, kMostChunkBytes);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, 0);
  png_read_info(png, info);
  return true;
}

// The transformations of TensorFlow's decode_png, in its order.
bool Reader::convert(const ImageHeader& header, int channels) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;  // NOLINT(cert-err52-cpp)
  const int color_type = png_get_color_type(png, info);
  const int bit_depth = png_get_bit_depth(png, info);
  // What was checked is what is decoded.
  if (png_get_image_width(png, info) != header.width || png_get_image_height(png, info) != header.height) {
    png_error(png, "two headers");
  }
  const bool has_transparency = png_get_valid(png, info, PNG_INFO_tRNS) != 0;
  const bool has_alpha = (color_type & PNG_COLOR_MASK_ALPHA) != 0;
  if (channels == 4) {
    if (!has_alpha && has_transparency) {
      png_set_tRNS_to_alpha(png);
    } else if (!has_alpha) {
      png_set_add_alpha(png, (1U << std::min(bit_depth, 16)) - 1, PNG_FILLER_AFTER);
    }
  } else if (has_alpha || has_transparency) {
    png_set_strip_alpha(png);
  }
  if (bit_depth > 8) png_set_strip_16(png);
  png_set_packing(png);
  if (color_type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  const bool is_gray = (color_type & PNG_COLOR_MASK_COLOR) == 0;
  if (is_gray && bit_depth < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (channels == 1 && !is_gray) {
    png_set_rgb_to_gray(png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  } else if (channels != 1 && is_gray) {
    png_set_gray_to_rgb(png);
  }
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  if (png_get_rowbytes(png, info) != static_cast<std::size_t>(header.width) * static_cast<std::size_t>(channels)) {
    png_error(png, "rows of another size than the header says");
  }
  return true;
}

bool Reader::read_rows(const PixelRange& range, std::uint8_t* unused_row, RowSink& sink) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;  // NOLINT(cert-err52-cpp)
  for (std::int64_t i = 0; i < range.top; ++i) png_read_row(png, unused_row, nullptr);
  for (std::int64_t i = range.top; i < range.bottom; ++i) {
    png_read_row(png, sink.row(), nullptr);
    sink.row_done();
  }
  if (range.bottom == png_get_image_height(png, info)) png_read_end(png, nullptr);
  return true;
}

bool Reader::read_interlaced(std::uint8_t** rows) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;  // NOLINT(cert-err52-cpp)
  png_read_image(png, rows);
  png_read_end(png, nullptr);
  return true;
}

Status Reader::failure() const {
  if (png == nullptr || info == nullptr) return {StatusCode::kResourceExhausted, "no memory to decode a PNG"};
  Where where;
  where.expected = "a whole PNG file";
  where.found = is_cut ? "less" : "another";
  return schema_mismatch("Invalid PNG data: " + std::string(message.data()), std::move(where));
}

}  // namespace

Status PngDecoder::decode(std::span<const std::uint8_t> file, const ImageHeader& header, int channels,
                          const PixelRange& range, RowSink& sink) {
  Reader reader;
  if (!reader.start(file) || !reader.convert(header, channels)) return reader.failure();
  const auto row_bytes = static_cast<std::size_t>(header.width) * static_cast<std::size_t>(channels);
  if (!header.interlaced) {
    rows_.resize(std::max(rows_.size(), row_bytes));
    sink.begin(0, header.width);
    return reader.read_rows(range, rows_.data(), sink) ? Status() : reader.failure();
  }
  const auto height = static_cast<std::size_t>(header.height);
  if (rows_.size() > kKeptBytes) std::vector<std::uint8_t>().swap(rows_);
  rows_.resize(std::max(rows_.size(), row_bytes * height));
  row_pointers_.resize(height);
  for (std::size_t y = 0; y < height; ++y) row_pointers_[y] = rows_.data() + y * row_bytes;
  if (!reader.read_interlaced(row_pointers_.data())) return reader.failure();
  sink.begin(0, header.width);
  for (std::int64_t y = range.top; y < range.bottom; ++y) {
    std::memcpy(sink.row(), row_pointers_[static_cast<std::size_t>(y)], row_bytes);
    sink.row_done();
  }
  return {};
}

}  // namespace headrace
