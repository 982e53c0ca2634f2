// What becomes of std::bad_alloc, when the system itself has no memory left: a Status like any other failure.
//
// The library's own threads let none through, since that would end the process. On a caller's thread it may come out of any
// call; the Python bindings make the same failure of it. The Status exists from the start of the program, so that nothing is
// allocated when there is nothing to allocate.
#pragma once

#include <new>

#include "headrace/status.h"

namespace headrace {

/// kResourceExhausted.
const Status& no_memory();

/// call(), whose result can be made of a Status; or no_memory().
template <class Call>
auto or_no_memory(Call call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

}  // namespace headrace
