#include "shard/compressor.h"

#if defined(HEADRACE_HAVE_ZSTD)
#include <zstd.h>

#include <string>
#include <vector>
#endif

namespace headrace {

#if defined(HEADRACE_HAVE_ZSTD)
namespace {

class ZstdCompressor final : public Compressor {
 public:
  explicit ZstdCompressor(ZSTD_CCtx* context) : context_(context) {}
  ZstdCompressor(const ZstdCompressor&) = delete;
  ZstdCompressor& operator=(const ZstdCompressor&) = delete;
  ~ZstdCompressor() override { ZSTD_freeCCtx(context_); }

  bool init(int level) {
    // The checksum is what finds damage that no record's own checksum covers.
    return ZSTD_isError(ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level)) == 0 &&
           ZSTD_isError(ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1)) == 0;
  }

  Status run(std::span<const std::uint8_t> bytes, bool end, const Write& write) override {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    const ZSTD_EndDirective directive = end ? ZSTD_e_end : ZSTD_e_continue;
    for (bool done = false; !done;) {
      ZSTD_outBuffer out{out_.data(), out_.size(), 0};
      const std::size_t left = ZSTD_compressStream2(context_, &out, &in, directive);
      if (ZSTD_isError(left) != 0) {
        return Status(StatusCode::kResourceExhausted, std::string("zstd: ") + ZSTD_getErrorName(left));
      }
      HEADRACE_RETURN_IF_ERROR(write({out_.data(), out.pos}));
      done = end ? left == 0 : in.pos == in.size;
    }
    return {};
  }

 private:
  ZSTD_CCtx* const context_;
  std::vector<std::uint8_t> out_ = std::vector<std::uint8_t>(ZSTD_CStreamOutSize());
};

}  // namespace

std::unique_ptr<Compressor> make_zstd_compressor(int level) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (context == nullptr) return nullptr;
  auto compressor = std::make_unique<ZstdCompressor>(context);
  if (!compressor->init(level)) return nullptr;
  return compressor;
}
#else
std::unique_ptr<Compressor> make_zstd_compressor(int) { return nullptr; }
#endif

}  // namespace headrace
