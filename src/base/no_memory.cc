#include "headrace/no_memory.h"

namespace headrace {
namespace {

const Status kNoMemory(StatusCode::kResourceExhausted, "the system has no memory left");

}  // namespace

const Status& no_memory() { return kNoMemory; }

}  // namespace headrace
