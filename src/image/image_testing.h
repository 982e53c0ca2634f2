// Image files for the tests, made by libjpeg and libpng, and whole decodes by libjpeg to compare with.
#pragma once

#include <jpeglib.h>
#include <png.h>

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace headrace {

using FileBytes = std::vector<std::uint8_t>;

struct Pixels {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::vector<std::uint8_t> data;

  std::uint8_t at(std::int64_t y, std::int64_t x, std::int64_t c) const {
    return data[static_cast<std::size_t>((y * width + x) * channels + c)];
  }
};

/// Slopes with edges: nothing repeats, and chroma differs from pixel to pixel.
inline Pixels test_pixels(std::int64_t height, std::int64_t width, std::int64_t channels) {
  Pixels pixels{height, width, channels, {}};
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t slope = 3 * x + 5 * y + 70 * c;
        const std::int64_t edge = ((x / 7 + y / 5 + c) % 3) * 60;
        pixels.data.push_back(static_cast<std::uint8_t>((slope / 2 + edge) % 256));
      }
    }
  }
  return pixels;
}

struct JpegWrite {
  int quality = 90;
  int sampling_h = 2;  ///< of luma; chroma is 1 x 1
  int sampling_v = 2;
  bool progressive = false;
  int restart_interval = 0;
};

/// 1 channel: gray; 3: RGB stored as YCbCr; 4: CMYK as it is.
inline FileBytes encode_jpeg(const Pixels& pixels, const JpegWrite& options = {}) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* out = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type
  jpeg_mem_dest(&info, &out, &size);
  info.image_width = static_cast<JDIMENSION>(pixels.width);
  info.image_height = static_cast<JDIMENSION>(pixels.height);
  info.input_components = static_cast<int>(pixels.channels);
  info.in_color_space = pixels.channels == 1 ? JCS_GRAYSCALE : pixels.channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, options.quality, TRUE);
  if (pixels.channels == 3) {
    info.comp_info[0].h_samp_factor = options.sampling_h;
    info.comp_info[0].v_samp_factor = options.sampling_v;
  }
  info.restart_interval = static_cast<unsigned>(options.restart_interval);
  if (options.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row =
        const_cast<JSAMPROW>(pixels.data.data() + static_cast<std::size_t>(info.next_scanline) *
                                                      static_cast<std::size_t>(pixels.width * pixels.channels));
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  FileBytes file(out, out + size);
  std::free(out);  // NOLINT(cppcoreguidelines-no-malloc): libjpeg's
  jpeg_destroy_compress(&info);
  return file;
}

/// All of the image, as jpeg_read_scanlines gives it.
inline Pixels decode_whole(const FileBytes& file, int channels, int reduction = 1, J_DCT_METHOD dct = JDCT_IFAST) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, file.data(), file.size());
  jpeg_read_header(&info, TRUE);
  info.out_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  info.scale_denom = static_cast<unsigned>(reduction);
  info.dct_method = dct;
  jpeg_start_decompress(&info);
  Pixels pixels{info.output_height, info.output_width, channels, {}};
  pixels.data.resize(static_cast<std::size_t>(pixels.height * pixels.width * channels));
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = pixels.data.data() +
                   static_cast<std::size_t>(info.output_scanline) * static_cast<std::size_t>(pixels.width * channels);
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return pixels;
}

struct PngWrite {
  int color_type = PNG_COLOR_TYPE_RGB;
  int bit_depth = 8;
  bool interlaced = false;
  std::vector<png_color> palette;
  std::vector<std::uint8_t> palette_alpha;
  bool has_transparent = false;  ///< the colour (gray or RGB) that is transparent
  png_color_16 transparent{};
};

/// `rows`: `height` rows of packed samples, those of 16 bits big-endian.
inline FileBytes encode_png(std::int64_t height, std::int64_t width, const std::vector<std::uint8_t>& rows,
                            const PngWrite& options) {
  FileBytes file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp self, png_bytep bytes, std::size_t size) {
        auto* out = static_cast<FileBytes*>(png_get_io_ptr(self));
        out->insert(out->end(), bytes, bytes + size);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), options.bit_depth,
               options.color_type, options.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!options.palette.empty()) {
    png_set_PLTE(png, info, options.palette.data(), static_cast<int>(options.palette.size()));
  }
  if (!options.palette_alpha.empty()) {
    png_set_tRNS(png, info, options.palette_alpha.data(), static_cast<int>(options.palette_alpha.size()), nullptr);
  }
  if (options.has_transparent) png_set_tRNS(png, info, nullptr, 0, &options.transparent);
  png_write_info(png, info);
  const std::size_t row_bytes = rows.size() / static_cast<std::size_t>(height);
  std::vector<png_bytep> pointers;
  for (std::int64_t y = 0; y < height; ++y) {
    pointers.push_back(const_cast<png_bytep>(rows.data() + static_cast<std::size_t>(y) * row_bytes));
  }
  png_write_image(png, pointers.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

inline FileBytes encode_png(const Pixels& pixels, bool interlaced = false) {
  constexpr int kTypes[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  PngWrite options;
  options.color_type = kTypes[pixels.channels];
  options.interlaced = interlaced;
  return encode_png(pixels.height, pixels.width, pixels.data, options);
}

}  // namespace headrace
