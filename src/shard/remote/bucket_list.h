// The pages of ListObjectsV2, and the error bodies of S3 and of what speaks like it. Pure functions; the bytes are a server's.
#pragma once

#include <span>
#include <string>

#include "shard/remote/object_store.h"

namespace headrace {

/// Keys are escaped as encoding-type=url has it. kIo: not such a page.
Result<ObjectPage> parse_bucket_page(std::span<const std::uint8_t> body);

/// <Code> and <Message> of an error.
struct BucketError {
  std::string code;
  std::string message;
};
BucketError parse_bucket_error(const std::string& body);

/// The query of ListObjectsV2, sorted by name.
std::string bucket_list_query(const ListQuery& query);

}  // namespace headrace
