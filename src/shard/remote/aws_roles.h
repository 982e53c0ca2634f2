// Keys that a role gives for a while: from AWS' token service, a container's agent, an instance's metadata. Any thread.
#pragma once

#include <optional>
#include <string>

#include "shard/remote/aws_credentials.h"

namespace headrace {

struct WebIdentity {
  std::string role;
  std::string token_file;
  std::string session_name;  ///< may be empty
};

Result<Expiring<MaybeAwsKeys>> assume_role_with(RemoteSession* session, const WebIdentity& identity,
                                                const std::string& region);
Result<Expiring<MaybeAwsKeys>> assume_role(RemoteSession* session, const AwsKeys& keys, const std::string& role,
                                           const std::string& external_id, const std::string& region);
Result<Expiring<MaybeAwsKeys>> container_role(RemoteSession* session, const std::string& url);
/// Nothing when this machine is no instance, or one without a role.
Result<std::optional<Expiring<MaybeAwsKeys>>> instance_role(RemoteSession* session);

}  // namespace headrace
