// A build without HEADRACE_REMOTE.
#include "shard/remote.h"

namespace headrace {

Result<std::unique_ptr<RemoteFinder>> make_remote_finder(const RemoteOptions&, const std::stop_token&) {
  return invalid_argument("this build reads no URLs: it was made with HEADRACE_REMOTE=OFF");
}

}  // namespace headrace
