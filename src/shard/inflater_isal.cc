#include <algorithm>

#include "shard/inflater.h"

#if defined(HEADRACE_HAVE_ISAL)
#include <isa-l/igzip_lib.h>
#endif

namespace headrace {

#if defined(HEADRACE_HAVE_ISAL)
namespace {

constexpr std::size_t kLargestStep = std::size_t{1} << 30;  // ISA-L counts in 32 bits

class IsalInflater : public Inflater {
 public:
  explicit IsalInflater(Compression format) : wrapper_(format == Compression::kGzip ? ISAL_GZIP : ISAL_ZLIB) {
    isal_inflate_init(&state_);
    state_.crc_flag = wrapper_;
  }

  void reset() override {
    code_ = ISAL_DECOMP_OK;
    isal_inflate_reset(&state_);
    state_.crc_flag = wrapper_;
  }

  Outcome step(const std::uint8_t** in, std::size_t* in_size, std::uint8_t** out, std::size_t* out_size) override {
    if (!is_damaged()) inflate(in, in_size, out, out_size);
    if (is_damaged()) return give_rest(out, out_size) ? Outcome::kDamaged : Outcome::kMore;
    return state_.block_state == ISAL_BLOCK_FINISH ? Outcome::kMemberEnd : Outcome::kMore;
  }

  // The words that it reads at a time may reach over the 4 bytes of a zlib trailer; those of gzip are 8.
  std::size_t taken_too_much() const override { return static_cast<std::size_t>(state_.read_in_length) / 8; }

  const char* reason() const override {
    switch (code_) {
      case ISAL_INVALID_BLOCK:
        return "invalid block type";
      case ISAL_INVALID_SYMBOL:
        return "invalid code";
      case ISAL_INVALID_LOOKBACK:
        return "invalid distance too far back";
      case ISAL_INVALID_WRAPPER:
        return "incorrect header check";
      case ISAL_UNSUPPORTED_METHOD:
        return "unknown compression method";
      case ISAL_INCORRECT_CHECKSUM:
        return "incorrect data check";
      case ISAL_NEED_DICT:
        return "needs a dictionary";
      default:
        return "invalid data";
    }
  }

 private:
  bool is_damaged() const { return code_ < 0 || code_ == ISAL_NEED_DICT; }

  void inflate(const std::uint8_t** in, std::size_t* in_size, std::uint8_t** out, std::size_t* out_size) {
    const auto offered = static_cast<std::uint32_t>(std::min(*in_size, kLargestStep));
    const auto room = static_cast<std::uint32_t>(std::min(*out_size, kLargestStep));
    state_.next_in = const_cast<std::uint8_t*>(*in);  // it does not write
    state_.avail_in = offered;
    state_.next_out = *out;
    state_.avail_out = room;
    code_ = isal_inflate(&state_);
    *in += offered - state_.avail_in;
    *in_size -= offered - state_.avail_in;
    *out += room - state_.avail_out;
    *out_size -= room - state_.avail_out;
  }

  // Where there is little room it inflates into a buffer of its own, and keeps what stands there before a damage. True when all of
  // it is given: how much comes before a damage must not depend on the room.
  bool give_rest(std::uint8_t** out, std::size_t* out_size) {
    const auto left = static_cast<std::size_t>(state_.tmp_out_valid - state_.tmp_out_processed);
    const std::size_t given = std::min(left, *out_size);
    std::copy_n(state_.tmp_out_buffer + state_.tmp_out_processed, given, *out);
    state_.tmp_out_processed += static_cast<std::int32_t>(given);
    *out += given;
    *out_size -= given;
    return given == left;
  }

  const std::uint32_t wrapper_;
  int code_ = 0;
  inflate_state state_;
};

}  // namespace

std::unique_ptr<Inflater> make_isal_inflater(Compression format) { return std::make_unique<IsalInflater>(format); }
#else
std::unique_ptr<Inflater> make_isal_inflater(Compression) { return nullptr; }
#endif

}  // namespace headrace
