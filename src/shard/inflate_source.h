// The uncompressed bytes of a compressed shard: all its members, one behind the other.
//
// Accepted: any number of members, empty ones included, and zero bytes behind those of gzip and zlib (tape padding). kDataLoss after the
// bytes that are right: a stream that is cut anywhere, a checksum or size that does not hold, anything else behind the data.
#pragma once

#include <memory>

#include "shard/byte_source.h"
#include "shard/stored_file.h"

namespace headrace {

/// `format` is any that is compressed; the file is not empty. kInvalidArgument when this build does not have it.
Result<std::unique_ptr<ByteSource>> make_inflate_source(std::unique_ptr<StoredFile> file, Compression format);

}  // namespace headrace
