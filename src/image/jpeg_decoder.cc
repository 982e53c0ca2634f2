#include "image/jpeg_decoder.h"

#include <csetjmp>
#include <cstddef>
#include <cstdio>
// libjpeg's headers need <cstdio> before them.
#include <jpeglib.h>
// clang-format keeps this order: jerror.h needs jpeglib.h.
#include <jerror.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/limits.h"

namespace headrace {
namespace {

// Columns beside the window that smooth upsampling looks at: with them, a window has the pixels of the whole image.
constexpr std::int64_t kMarginColumns = 2;

Status damaged(const std::string& reason, std::string found) {
  Where where;
  where.expected = "a whole JPEG file";
  where.found = std::move(found);
  return schema_mismatch("Invalid JPEG data: " + reason, std::move(where));
}

// What libjpeg calls for input: there is all of it at the start, so a call means that the file ends too early.
void begin_input(j_decompress_ptr) {}
void end_input(j_decompress_ptr) {}
boolean fill_input(j_decompress_ptr info) {
  ERREXIT(info, JERR_INPUT_EOF);
  return FALSE;
}
void skip_input(j_decompress_ptr info, long count) {  // NOLINT(google-runtime-int): libjpeg's type
  if (count <= 0) return;
  const std::size_t bytes = std::min(static_cast<std::size_t>(count), info->src->bytes_in_buffer);
  info->src->next_input_byte += bytes;
  info->src->bytes_in_buffer -= bytes;
}

}  // namespace

// The C structures come first in theirs, so that libjpeg's pointers to them lead back to this.
struct JpegDecoder::State {
  struct Errors {
    jpeg_error_mgr base;
    std::jmp_buf on_error;
  };
  struct Progress {
    jpeg_progress_mgr base;
    bool too_many_scans;
  };

  jpeg_decompress_struct info;
  Errors errors;
  Progress progress;
  jpeg_source_mgr source;
  std::vector<std::uint8_t> cmyk;  // one row

  [[noreturn]] static void fail(j_common_ptr info) {
    std::longjmp(reinterpret_cast<Errors*>(info->err)->on_error, 1);  // NOLINT(cert-err52-cpp): libjpeg's way
  }
  static void count_scans(j_common_ptr common) {
    auto* info = reinterpret_cast<j_decompress_ptr>(common);
    if (info->input_scan_number <= kMaxJpegScans) return;
    reinterpret_cast<Progress*>(common->progress)->too_many_scans = true;
    fail(common);
  }

  bool create();
  bool start(std::span<const std::uint8_t> file, const ImageHeader& header, const JpegRequest& request,
             std::int64_t* left, std::int64_t* width);
  bool read_rows(std::int64_t top, std::int64_t rows, RowSink& sink);
  Status failure();
};

bool JpegDecoder::State::create() {
  info = {};
  info.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = fail;
  errors.base.output_message = [](j_common_ptr) {};
  errors.base.emit_message = [](j_common_ptr common, int level) {
    if (level < 0) ++common->err->num_warnings;
  };
  if (setjmp(errors.on_error) != 0) return false;  // NOLINT(cert-err52-cpp)
  jpeg_create_decompress(&info);
  source = {};
  source.init_source = begin_input;
  source.fill_input_buffer = fill_input;
  source.skip_input_data = skip_input;
  source.resync_to_restart = jpeg_resync_to_restart;
  source.term_source = end_input;
  info.src = &source;
  progress.base = {};
  progress.base.progress_monitor = count_scans;
  info.progress = &progress.base;
  return true;
}

// No object with a destructor lives across setjmp, here and below.
bool JpegDecoder::State::start(std::span<const std::uint8_t> file, const ImageHeader& header,
                               const JpegRequest& request, std::int64_t* left, std::int64_t* width) {
  progress.too_many_scans = false;
  source.next_input_byte = file.data();
  source.bytes_in_buffer = file.size();
  if (setjmp(errors.on_error) != 0) return false;  // NOLINT(cert-err52-cpp)
  jpeg_read_header(&info, TRUE);
  // What was checked is what libjpeg allocates for.
  if (info.image_width != header.width || info.image_height != header.height) ERREXIT(&info, JERR_SOF_DUPLICATE);
  const bool is_cmyk = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = request.channels == 1 ? JCS_GRAYSCALE : is_cmyk ? JCS_CMYK : JCS_RGB;
  info.scale_num = 1;
  info.scale_denom = static_cast<unsigned>(request.reduction);
  info.dct_method = request.dct == JpegDct::kIntegerFast ? JDCT_IFAST : JDCT_ISLOW;
  info.do_fancy_upsampling = TRUE;
  jpeg_start_decompress(&info);
  *left = 0;
  *width = info.output_width;
  const std::int64_t wide_left = std::max<std::int64_t>(0, request.range.left - kMarginColumns);
  const std::int64_t wide_right = std::min<std::int64_t>(info.output_width, request.range.right + kMarginColumns);
  if (wide_left > 0 || wide_right < *width) {
    auto first = static_cast<JDIMENSION>(wide_left);
    auto columns = static_cast<JDIMENSION>(wide_right - wide_left);
    jpeg_crop_scanline(&info, &first, &columns);  // moves the left edge to the border of a block
    *left = first;
    *width = info.output_width;
  }
  return true;
}

namespace {

// As TensorFlow does it, Adobe's inverted values and others.
void cmyk_to_rgb(const std::uint8_t* from, std::uint8_t* to, std::int64_t pixels, bool is_inverted) {
  for (std::int64_t i = 0; i < pixels; ++i, from += 4, to += 3) {
    const int black = from[3];
    for (int c = 0; c < 3; ++c) {
      const int ink = from[c];
      to[c] = static_cast<std::uint8_t>(is_inverted ? black * ink / 255 : (255 - black) * (255 - ink) / 255);
    }
  }
}

}  // namespace

bool JpegDecoder::State::read_rows(std::int64_t top, std::int64_t rows, RowSink& sink) {
  const bool is_cmyk = info.out_color_space == JCS_CMYK;
  if (setjmp(errors.on_error) != 0) return false;  // NOLINT(cert-err52-cpp)
  if (top > 0) jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(top));
  for (std::int64_t i = 0; i < rows; ++i) {
    std::uint8_t* row = sink.row();
    JSAMPROW lines[] = {is_cmyk ? cmyk.data() : row};
    if (jpeg_read_scanlines(&info, lines, 1) != 1) ERREXIT(&info, JERR_INPUT_EOF);
    if (is_cmyk) cmyk_to_rgb(cmyk.data(), row, info.output_width, info.saw_Adobe_marker != FALSE);
    sink.row_done();
  }
  // With the last row, the end marker must be there, too.
  if (info.output_scanline == info.output_height) jpeg_finish_decompress(&info);
  return true;
}

Status JpegDecoder::State::failure() {
  if (progress.too_many_scans) {
    Where where;
    where.expected = "at most " + std::to_string(kMaxJpegScans) + " scans";
    where.found = "more";
    return {StatusCode::kResourceExhausted, "a JPEG of more than " + std::to_string(kMaxJpegScans) + " scans",
            std::move(where)};
  }
  const int code = errors.base.msg_code;
  if (code == JERR_INPUT_EOF) return damaged("the file ends too early", "less");
  if (code == JERR_OUT_OF_MEMORY) {
    return {StatusCode::kResourceExhausted, "no memory to decode a JPEG"};
  }
  // libjpeg's words hold numbers of the file's structure only, never its pixels.
  std::array<char, JMSG_LENGTH_MAX> text{};
  errors.base.format_message(reinterpret_cast<j_common_ptr>(&info), text.data());
  return damaged(text.data(), "another");
}

JpegDecoder::JpegDecoder() : state_(std::make_unique<State>()) {
  if (!state_->create()) state_->info.mem = nullptr;  // decode() says so
}

JpegDecoder::~JpegDecoder() { jpeg_destroy_decompress(&state_->info); }

Status JpegDecoder::decode(std::span<const std::uint8_t> file, const ImageHeader& header, const JpegRequest& request,
                           RowSink& sink) {
  State& state = *state_;
  if (state.info.mem == nullptr) return {StatusCode::kResourceExhausted, "no memory to decode a JPEG"};
  std::int64_t left = 0;
  std::int64_t width = 0;
  bool done = state.start(file, header, request, &left, &width);
  if (done) {
    if (state.info.out_color_space == JCS_CMYK) state.cmyk.resize(4 * static_cast<std::size_t>(width));
    sink.begin(left, width);
    done = state.read_rows(request.range.top, request.range.bottom - request.range.top, sink);
  }
  const Status status = done ? Status() : state.failure();
  jpeg_abort_decompress(&state.info);
  return status;
}

}  // namespace headrace
