// What servers and settings say in text: a page of a bucket's list, an error, headers of ranges, a profile. The first byte
// of the input chooses which.
#include <string>

#include "fuzz/same_column.h"
#include "shard/remote/aws_profile.h"
#include "shard/remote/bucket_list.h"
#include "shard/remote/range_request.h"

namespace headrace {
namespace {

void read_page(std::span<const std::uint8_t> bytes) {
  const Result<ObjectPage> page = parse_bucket_page(bytes);
  if (!page.ok()) return;
  for (const ObjectPage::Entry& entry : page->entries) fuzz::require(entry.key.size() <= bytes.size());
  fuzz::require(page->next.size() <= bytes.size());
}

void read_range(const std::string& text) {
  const HttpResponse response{206, {{"content-range", text}, {"content-length", text}, {"retry-after", text}}};
  if (const auto range = content_range(response)) fuzz::require(range->first < range->end);
  static_cast<void>(unsatisfied_size(response));
  static_cast<void>(content_length(response));
  static_cast<void>(retry_after(response));
}

void read_profile(const std::string& text) {
  for (const auto& [name, value] : parse_profile(text, "default")) {
    fuzz::require(name.size() + value.size() <= text.size());
  }
}

}  // namespace
}  // namespace headrace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span bytes(data + 1, size - 1);
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  switch (data[0] % 4) {
    case 0:
      headrace::read_page(bytes);
      break;
    case 1:
      static_cast<void>(headrace::parse_bucket_error(text));
      break;
    case 2:
      headrace::read_range(text);
      break;
    default:
      headrace::read_profile(text);
  }
  return 0;
}
