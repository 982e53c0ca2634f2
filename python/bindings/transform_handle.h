// TransformHandle: a Transform as a class of its own, which nanobind's conversion of variants leaves alone.
#pragma once

#include "headrace/transform.h"

namespace headrace::python {

struct TransformHandle {
  Transform transform;
};

}  // namespace headrace::python
