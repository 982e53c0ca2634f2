#include "shard/remote/aws_credentials.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "base/environment.h"
#include "shard/remote/aws_profile.h"
#include "shard/remote/aws_roles.h"

namespace headrace {
namespace {

using Found = std::optional<Expiring<MaybeAwsKeys>>;

Found lasting(AwsKeys keys) { return Expiring<MaybeAwsKeys>{.value = std::move(keys)}; }

bool is_on(const char* variable) {
  std::string value = environment_text(variable);
  std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::tolower(c); });
  return value == "1" || value == "true" || value == "yes";
}

std::string value_of(const AwsProfile& profile, const char* name) {
  const auto found = profile.find(name);
  return found == profile.end() ? std::string() : found->second;
}

AwsKeys keys_of(const AwsProfile& profile) {
  return {value_of(profile, "aws_access_key_id"), value_of(profile, "aws_secret_access_key"),
          value_of(profile, "aws_session_token")};
}

Result<Found> from_environment(RemoteSession*) {
  if (is_on("AWS_NO_SIGN_REQUEST")) return Found(Expiring<MaybeAwsKeys>{});
  AwsKeys keys{environment_text("AWS_ACCESS_KEY_ID"), environment_text("AWS_SECRET_ACCESS_KEY"),
               environment_text("AWS_SESSION_TOKEN")};
  if (keys.id.empty() && keys.secret.empty()) return Found();
  if (keys.id.empty() || keys.secret.empty()) {
    return invalid_argument("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set both");
  }
  return lasting(std::move(keys));
}

Result<Found> from_web_identity(RemoteSession* session) {
  const WebIdentity identity{.role = environment_text("AWS_ROLE_ARN"),
                             .token_file = environment_text("AWS_WEB_IDENTITY_TOKEN_FILE"),
                             .session_name = environment_text("AWS_ROLE_SESSION_NAME")};
  if (identity.role.empty() || identity.token_file.empty()) return Found();
  HEADRACE_ASSIGN_OR_RETURN(const std::string region, aws_region());
  HEADRACE_ASSIGN_OR_RETURN(Expiring<MaybeAwsKeys> keys, assume_role_with(session, identity, region));
  return Found(std::move(keys));
}

Result<Found> from_profile(RemoteSession* session) {
  const std::string name = aws_profile_name();
  HEADRACE_ASSIGN_OR_RETURN(const AwsProfile profile, read_aws_profile(name));
  HEADRACE_ASSIGN_OR_RETURN(const std::string region, aws_region());
  const std::string role = value_of(profile, "role_arn");
  const std::string token_file = value_of(profile, "web_identity_token_file");
  const std::string source = value_of(profile, "source_profile");
  AwsKeys keys = keys_of(profile);
  if (!role.empty() && !token_file.empty()) {
    const WebIdentity identity{role, token_file, value_of(profile, "role_session_name")};
    HEADRACE_ASSIGN_OR_RETURN(Expiring<MaybeAwsKeys> assumed, assume_role_with(session, identity, region));
    return Found(std::move(assumed));
  }
  if (!role.empty() && !source.empty()) {
    HEADRACE_ASSIGN_OR_RETURN(const AwsProfile source_profile, read_aws_profile(source));
    const AwsKeys source_keys = keys_of(source_profile);
    if (source_keys.id.empty()) {
      return Status(StatusCode::kPermissionDenied,
                    "the AWS profile '" + source + "', the source of '" + name + "', has no keys");
    }
    HEADRACE_ASSIGN_OR_RETURN(Expiring<MaybeAwsKeys> assumed,
                              assume_role(session, source_keys, role, value_of(profile, "external_id"), region));
    return Found(std::move(assumed));
  }
  if (!keys.id.empty() && !keys.secret.empty()) return lasting(std::move(keys));
  if (profile.contains("credential_process") || profile.contains("sso_session") || profile.contains("sso_start_url")) {
    return Status(StatusCode::kPermissionDenied,
                  "the AWS profile '" + name +
                      "' gets its keys from another program or from a sign-on, which is not done "
                      "here; run `aws configure export-credentials --format env` and set what it prints");
  }
  if (profile.empty() && !environment_text("AWS_PROFILE").empty()) {
    return Status(StatusCode::kPermissionDenied, "there is no AWS profile '" + name + "' (AWS_PROFILE)");
  }
  return Found();
}

Result<Found> from_container(RemoteSession* session) {
  const std::string relative = environment_text("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const std::string full = environment_text("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (relative.empty() && full.empty()) return Found();
  const std::string url = relative.empty() ? full : "http://169.254.170.2" + relative;
  HEADRACE_ASSIGN_OR_RETURN(Expiring<MaybeAwsKeys> keys, container_role(session, url));
  return Found(std::move(keys));
}

Result<Found> from_instance(RemoteSession* session) {
  if (is_on("AWS_EC2_METADATA_DISABLED")) return Found();
  return instance_role(session);
}

}  // namespace

Result<Expiring<MaybeAwsKeys>> find_aws_credentials(RemoteSession* session) {
  for (const auto find : {from_environment, from_web_identity, from_profile, from_container, from_instance}) {
    HEADRACE_ASSIGN_OR_RETURN(Found found, find(session));
    if (found) return std::move(*found);
  }
  return Status(
      StatusCode::kPermissionDenied,
      "no AWS credentials: there are none in the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), as a "
      "web identity, in the profile '" +
          aws_profile_name() +
          "', of a container or of an instance; for public "
          "objects set AWS_NO_SIGN_REQUEST=1");
}

Result<std::string> aws_region() {
  for (const char* variable : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (std::string region = environment_text(variable); !region.empty()) return region;
  }
  HEADRACE_ASSIGN_OR_RETURN(const AwsProfile profile, read_aws_profile(aws_profile_name()));
  return value_of(profile, "region");
}

}  // namespace headrace
