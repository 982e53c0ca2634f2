// What all pipelines of this process did together: every status page is counted while it lives, and added up when it goes.
#pragma once

#include "headrace/running.h"
#include "runtime/status_page.h"

namespace headrace {

/// Called by the page itself; `page` stays until it is discounted.
void count_page(const StatusPage* page);
void discount_page(const StatusPage* page);

}  // namespace headrace
