// Whether an index is that of a file as it is now, without reading the file. Any thread.
#pragma once

#include <string>

#include "headrace/index.h"

namespace headrace {

/// Of a file that can be read; the words are 0 where it has less than 16 bytes.
Result<FileIdentity> identity_of(const std::string& path);

/// An index of another program, which has no identity, fits a plain file that ends where its last record does and begins with
/// its first.
Result<bool> fits(const RecordIndex& index, const std::string& path);

}  // namespace headrace
