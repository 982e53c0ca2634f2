// The words of the Python edge for the options of reading, and the ReadOptions they make.
#pragma once

#include <string>

#include "headrace/dataset.h"

namespace headrace::python {

/// "auto", "none", "gzip", "zlib", "zstd", "snappy"; anything else is ValueError naming it.
CompressionType to_compression(const std::string& name);
/// The reverse.
std::string compression_name(CompressionType compression);
/// "full", "header", "off".
Verify to_verify(const std::string& name);
/// "raise", "skip".
OnCorrupt to_on_corrupt(const std::string& name);
OnMismatch to_on_mismatch(const std::string& name);

}  // namespace headrace::python
