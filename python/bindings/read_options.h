// The words of the Python edge for the options of reading, and the ReadOptions they make.
#pragma once

#include <string>

#include "headrace/dataset.h"

namespace headrace::python {

/// "auto", "none", "gzip", "zlib"; anything else is ValueError naming it.
CompressionType to_compression(const std::string& name);
/// "full", "header", "off".
Verify to_verify(const std::string& name);
/// "raise", "skip".
OnCorrupt to_on_corrupt(const std::string& name);

}  // namespace headrace::python
