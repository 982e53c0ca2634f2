// A serialized TensorProto. The input is the message.
//
// The quick walk must agree with the careful one, which an unknown field in front sends it to; the check of values with
// their decoding. Message and elements lie in memory of exactly their size.
#include <cstring>
#include <memory>
#include <string>

#include "example/feature_view.h"
#include "example/tensor_proto.h"
#include "fuzz/same_column.h"

namespace headrace {
namespace {

// A copy with exactly the padding that readers may touch.
class Message {
 public:
  explicit Message(std::string_view bytes)
      : memory_(std::make_unique<std::uint8_t[]>(bytes.size() + kRecordPadding)), size_(bytes.size()) {
    if (size_ > 0) std::memcpy(memory_.get(), bytes.data(), size_);
  }
  std::span<const std::uint8_t> bytes() const { return {memory_.get(), size_}; }

 private:
  std::unique_ptr<std::uint8_t[]> memory_;
  std::size_t size_;
};

void decode_strings(const TensorProtoView& view) {
  std::vector<std::string_view> strings;
  if (!decode_string_tensor(view, &strings).ok()) return;
  const auto count = static_cast<std::int64_t>(strings.size());
  fuzz::require(count <= view.elements && (count > 0 || view.elements == 0));
  for (const std::string_view text : strings) fuzz::require(text.size() <= view.message.size());
}

void decode_numbers(const TensorProtoView& view) {
  const Status checked = check_tensor_values(view);
  const std::size_t bytes = static_cast<std::size_t>(view.elements) * size_of(view.dtype);
  const auto memory = std::make_unique<std::uint8_t[]>(bytes);
  const Status decoded = decode_tensor_proto(view, memory.get());
  fuzz::require(checked.message() == decoded.message());
  if (!decoded.ok() || view.dtype != DType::kBool) return;
  for (std::size_t i = 0; i < bytes; ++i) fuzz::require(memory[i] <= 1);
}

void read(std::string_view bytes) {
  const Message quick(bytes);
  const Message careful(std::string("\xC0\x02\x00", 3) + std::string(bytes));  // field 40
  TensorProtoView view;
  TensorProtoView other;
  const bool is_tensor = read_tensor_proto(quick.bytes(), &view).ok();
  // Nothing but the field in front is no tensor, and neither are no bytes at all.
  fuzz::require(is_tensor == read_tensor_proto(careful.bytes(), &other).ok());
  if (!is_tensor) return;
  fuzz::require(view.dtype == other.dtype && view.shape() == other.shape() && view.elements == other.elements);
  fuzz::require(view.has_content == other.has_content && view.content == other.content);
  if (view.dtype == DType::kBytes) {
    decode_strings(view);
  } else {
    decode_numbers(view);
  }
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  headrace::read({reinterpret_cast<const char*>(data), size});
  return 0;
}
