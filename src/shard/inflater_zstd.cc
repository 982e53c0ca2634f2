#include "shard/inflater.h"

#if defined(HEADRACE_HAVE_ZSTD)
#include <zstd.h>
#endif

namespace headrace {

#if defined(HEADRACE_HAVE_ZSTD)
namespace {

// A member is a frame. The library refuses frames that need a window of more than 128 MiB.
class ZstdInflater final : public Inflater {
 public:
  explicit ZstdInflater(ZSTD_DCtx* context) : context_(context) {}
  ZstdInflater(const ZstdInflater&) = delete;
  ZstdInflater& operator=(const ZstdInflater&) = delete;
  ~ZstdInflater() override { ZSTD_freeDCtx(context_); }

  void reset() override { ZSTD_DCtx_reset(context_, ZSTD_reset_session_only); }

  Outcome step(const std::uint8_t** in, std::size_t* in_size, std::uint8_t** out, std::size_t* out_size) override {
    ZSTD_inBuffer input{*in, *in_size, 0};
    ZSTD_outBuffer output{*out, *out_size, 0};
    code_ = ZSTD_decompressStream(context_, &output, &input);
    *in += input.pos;
    *in_size -= input.pos;
    *out += output.pos;
    *out_size -= output.pos;
    if (ZSTD_isError(code_) != 0) return Outcome::kDamaged;
    return code_ == 0 ? Outcome::kMemberEnd : Outcome::kMore;
  }

  const char* reason() const override { return ZSTD_getErrorName(code_); }
  std::size_t memory_bytes() const override { return ZSTD_sizeof_DCtx(context_); }

 private:
  ZSTD_DCtx* const context_;
  std::size_t code_ = 0;
};

}  // namespace

std::unique_ptr<Inflater> make_zstd_inflater() {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  if (context == nullptr) return nullptr;
  return std::make_unique<ZstdInflater>(context);
}
#else
std::unique_ptr<Inflater> make_zstd_inflater() { return nullptr; }
#endif

}  // namespace headrace
