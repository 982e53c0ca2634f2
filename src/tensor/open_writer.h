// Phase 2 of the columns with open dimensions: values one behind the other with row splits, or each in its padded slot.
#pragma once

#include "tensor/variable_writer.h"

namespace headrace {

/// As write_variable().
Status write_open(const Feature& feature, const VariableColumn& column, const VariableMemory& memory,
                  const SegmentNotes& notes, ParseScratch& scratch);

}  // namespace headrace
