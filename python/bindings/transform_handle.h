// TransformHandle: a Transform as a class of its own, which nanobind's conversion of variants leaves alone.
#pragma once

#include <nanobind/nanobind.h>

#include "headrace/transform.h"

namespace headrace::python {

struct TransformHandle {
  Transform transform;
};

/// None, an int, a float or bytes.
PadValue to_pad_value(nanobind::handle value);

}  // namespace headrace::python
