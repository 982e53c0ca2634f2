// RemoteTarget: one object as it was found, and what an answer says about it. Constant; any thread.
#pragma once

#include <memory>
#include <string>

#include "shard/remote/object_store.h"
#include "shard/remote/remote_session.h"

namespace headrace {

struct RemoteTarget {
  std::shared_ptr<ObjectStore> store;
  std::string key;
  std::string path;  ///< as it is shown
  std::uint64_t size = 0;
  std::string version;     ///< empty: the server tells none
  bool has_ranges = true;  ///< false: the server always sends the whole object
};

/// Bytes of an error's body that are looked at.
constexpr std::size_t kMostErrorBytes = 16 * 1024;

/// What to do after an answer that is neither 200 nor 206. `body`: its first bytes.
Judgement judge_refusal(const RemoteTarget& target, const HttpResponse& response, const std::string& body);
/// What to do when no whole answer came.
Judgement judge_break(const RemoteTarget& target, const HttpOutcome& outcome);
/// The object is not the one that was found.
Status replaced(const RemoteTarget& target);

/// Asks for the first byte of `target.key`, which says size, version and whether there are ranges.
Status look_at(RemoteSession* session, RemoteTarget* target);

}  // namespace headrace
