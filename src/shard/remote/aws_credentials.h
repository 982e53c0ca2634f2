// The usual chain of AWS credentials: the environment, a web identity, the profile files, a container's or an instance's role
// (IMDSv2). Any thread.
#pragma once

#include <memory>
#include <optional>

#include "shard/remote/renewed.h"
#include "shard/remote/sigv4.h"

namespace headrace {

class RemoteSession;

/// Nothing in it: unsigned requests, as AWS_NO_SIGN_REQUEST asks for.
using MaybeAwsKeys = std::optional<AwsKeys>;

/// Goes through the chain once. kPermissionDenied when there is none, or when one that is set up gives none.
Result<Expiring<MaybeAwsKeys>> find_aws_credentials(RemoteSession* session);

/// Of AWS_REGION, AWS_DEFAULT_REGION, the profile; empty when none names one.
Result<std::string> aws_region();

}  // namespace headrace
