// What inflating costs, by format and library, with nothing around it. The shards (plain ones) are joined to one stream, compressed in
// memory, and inflated into a buffer of 256 KiB that stays in the cache, as headrace does it; libdeflate knows whole streams only.
// Arguments: seconds a row, shard files. A line a row: format, library, compressed bytes, bytes, CPU seconds.
#include <isa-l/igzip_lib.h>
#include <libdeflate.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "benchmarks/harness/loop_clock.h"

namespace {

constexpr std::size_t kBlockBytes = 256 << 10;
constexpr std::size_t kMostBytes = 32 << 20;
constexpr std::size_t kSnappyChunk = 64 << 10;
constexpr int kGzipBits = MAX_WBITS + 16;

using Bytes = std::string;

std::uint8_t* bytes_of(const Bytes& text) { return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data())); }

Bytes deflated(const Bytes& data, int window_bits) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) std::exit(1);
  Bytes out(deflateBound(&stream, data.size()) + 64, '\0');
  stream.next_in = bytes_of(data);
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = bytes_of(out);
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) std::exit(1);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::size_t with_zlib(const Bytes& data, int window_bits, Bytes* block) {
  z_stream stream{};
  if (inflateInit2(&stream, window_bits) != Z_OK) std::exit(1);
  stream.next_in = bytes_of(data);
  stream.avail_in = static_cast<uInt>(data.size());
  int code = Z_OK;
  while (code == Z_OK) {
    stream.next_out = bytes_of(*block);
    stream.avail_out = static_cast<uInt>(block->size());
    code = inflate(&stream, Z_NO_FLUSH);
  }
  const std::size_t bytes = stream.total_out;
  inflateEnd(&stream);
  return code == Z_STREAM_END ? bytes : 0;
}

std::size_t with_isal(const Bytes& data, std::uint32_t wrapper, Bytes* block) {
  static inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = wrapper;
  state.next_in = bytes_of(data);
  state.avail_in = static_cast<std::uint32_t>(data.size());
  while (state.block_state != ISAL_BLOCK_FINISH) {
    state.next_out = bytes_of(*block);
    state.avail_out = static_cast<std::uint32_t>(block->size());
    if (isal_inflate(&state) != ISAL_DECOMP_OK) return 0;
  }
  return state.total_out;
}

std::size_t with_libdeflate(const Bytes& data, bool is_gzip, Bytes* whole) {
  static libdeflate_decompressor* const decompressor = libdeflate_alloc_decompressor();
  std::size_t bytes = 0;
  const auto inflate_whole = is_gzip ? libdeflate_gzip_decompress : libdeflate_zlib_decompress;
  const auto code = inflate_whole(decompressor, data.data(), data.size(), whole->data(), whole->size(), &bytes);
  return code == LIBDEFLATE_SUCCESS ? bytes : 0;
}

Bytes zstd_of(const Bytes& data) {
  Bytes out(ZSTD_compressBound(data.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), data.data(), data.size()));
  ZSTD_freeCCtx(context);
  return out;
}

std::size_t with_zstd(const Bytes& data, Bytes* block) {
  static ZSTD_DCtx* const context = ZSTD_createDCtx();
  ZSTD_DCtx_reset(context, ZSTD_reset_session_only);
  ZSTD_inBuffer input{data.data(), data.size(), 0};
  std::size_t bytes = 0;
  for (std::size_t left = 1; left != 0;) {
    ZSTD_outBuffer output{block->data(), block->size(), 0};
    left = ZSTD_decompressStream(context, &output, &input);
    if (ZSTD_isError(left) != 0) return 0;
    bytes += output.pos;
  }
  return bytes;
}

std::vector<Bytes> snappy_of(const Bytes& data) {
  std::vector<Bytes> chunks;
  for (std::size_t at = 0; at < data.size(); at += kSnappyChunk) {
    chunks.emplace_back();
    snappy::Compress(data.data() + at, std::min(kSnappyChunk, data.size() - at), &chunks.back());
  }
  return chunks;
}

std::size_t with_snappy(const std::vector<Bytes>& chunks, Bytes* block) {
  std::size_t bytes = 0;
  for (const Bytes& chunk : chunks) {
    std::size_t size = 0;
    if (!snappy::GetUncompressedLength(chunk.data(), chunk.size(), &size)) return 0;
    if (!snappy::RawUncompress(chunk.data(), chunk.size(), block->data())) return 0;
    bytes += size;
  }
  return bytes;
}

// Runs `inflate` for that long; it gives the number of bytes, which must be right.
void row(const char* format, const char* library, std::size_t compressed, std::size_t expected, double seconds,
         const std::function<std::size_t()>& inflate) {
  if (inflate() != expected) std::exit(2);
  double best = 1e9;
  const double end = now_s() + seconds;
  while (now_s() < end) {
    const double begin = cpu_s();
    if (inflate() != expected) std::exit(2);
    best = std::min(best, cpu_s() - begin);
  }
  std::printf("%s %s %zu %zu %.6f\n", format, library, compressed, expected, best);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const double seconds = std::atof(arguments[1]);
  Bytes data;
  for (int i = 2; i < count && data.size() < kMostBytes; ++i) {
    std::ifstream in(arguments[i], std::ios::binary);
    data.append(std::istreambuf_iterator<char>(in), {});
  }
  data.resize(std::min(data.size(), kMostBytes));
  Bytes block(kBlockBytes, '\0');
  Bytes whole(data.size(), '\0');
  const Bytes gzip = deflated(data, kGzipBits);
  row("gzip", "ISA-L", gzip.size(), data.size(), seconds, [&] { return with_isal(gzip, ISAL_GZIP, &block); });
  row("gzip", "zlib", gzip.size(), data.size(), seconds, [&] { return with_zlib(gzip, kGzipBits, &block); });
  row("gzip", "libdeflate", gzip.size(), data.size(), seconds, [&] { return with_libdeflate(gzip, true, &whole); });
  const Bytes zlib = deflated(data, MAX_WBITS);
  row("zlib", "ISA-L", zlib.size(), data.size(), seconds, [&] { return with_isal(zlib, ISAL_ZLIB, &block); });
  row("zlib", "zlib", zlib.size(), data.size(), seconds, [&] { return with_zlib(zlib, MAX_WBITS, &block); });
  row("zlib", "libdeflate", zlib.size(), data.size(), seconds, [&] { return with_libdeflate(zlib, false, &whole); });
  const Bytes zstd = zstd_of(data);
  row("zstd", "libzstd", zstd.size(), data.size(), seconds, [&] { return with_zstd(zstd, &block); });
  const std::vector<Bytes> snappy = snappy_of(data);
  std::size_t snappy_bytes = 0;
  for (const Bytes& chunk : snappy) snappy_bytes += chunk.size() + 8;
  row("snappy", "libsnappy", snappy_bytes, data.size(), seconds, [&] { return with_snappy(snappy, &block); });
  return 0;
}
