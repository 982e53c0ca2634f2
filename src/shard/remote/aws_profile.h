// AWS settings: the variables and the two profile files that all AWS tools share. Any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "headrace/status.h"

namespace headrace {

using AwsProfile = std::map<std::string, std::string>;

/// The settings of one section of a profile file; what stands in other sections is not looked at. Pure function.
AwsProfile parse_profile(std::string_view text, std::string_view section);

/// The profile `name` from AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE, or their usual places; the first wins. Files that are
/// not there count as empty. kInvalidArgument: one that cannot be read.
Result<AwsProfile> read_aws_profile(const std::string& name);

/// AWS_PROFILE, else AWS_DEFAULT_PROFILE, else "default".
std::string aws_profile_name();

/// The whole of a small text file; nothing when there is none.
Result<std::string> read_small_file(const std::string& path);

}  // namespace headrace
