#include "shard/remote/aws_roles.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <pugixml.hpp>

#include "base/environment.h"
#include "shard/remote/aws_profile.h"
#include "shard/remote/json_fields.h"
#include "shard/remote/remote_session.h"
#include "shard/remote/url.h"

namespace headrace {
namespace {

using Keys = Expiring<MaybeAwsKeys>;

constexpr std::size_t kMostBytes = 64 * 1024;
constexpr const char* kApi = "2011-06-15";

Status none_from(const std::string& whom, const std::string& why) {
  return {StatusCode::kPermissionDenied, "no AWS credentials from " + whom + ": " + why};
}

Result<Keys> keys_from_json(const std::string& whom, const std::string& body) {
  const nlohmann::json object = parse_object(body);
  AwsKeys keys{text_field(object, "AccessKeyId"), text_field(object, "SecretAccessKey"), text_field(object, "Token")};
  if (keys.id.empty() || keys.secret.empty()) return none_from(whom, "its answer holds none");
  return Keys{.value = std::move(keys), .expires = parse_time(text_field(object, "Expiration"))};
}

Result<Keys> keys_from_xml(const std::string& whom, const std::string& body) {
  pugi::xml_document document;
  document.load_buffer(body.data(), body.size());
  const pugi::xml_node found =
      document.find_node([](const pugi::xml_node& node) { return std::string_view(node.name()) == "Credentials"; });
  AwsKeys keys{found.child_value("AccessKeyId"), found.child_value("SecretAccessKey"),
               found.child_value("SessionToken")};
  if (keys.id.empty() || keys.secret.empty()) return none_from(whom, "its answer holds none");
  return Keys{.value = std::move(keys), .expires = parse_time(found.child_value("Expiration"))};
}

std::string code_in_xml(const std::string& body) {
  pugi::xml_document document;
  document.load_buffer(body.data(), body.size());
  const pugi::xml_node code =
      document.find_node([](const pugi::xml_node& node) { return std::string_view(node.name()) == "Code"; });
  return code.child_value();
}

std::string token_service(const std::string& region) {
  if (std::string url = environment_text("AWS_ENDPOINT_URL_STS"); !url.empty()) return url;
  return region.empty() ? "https://sts.amazonaws.com/" : "https://sts." + region + ".amazonaws.com/";
}

Result<Keys> ask_token_service(RemoteSession* session, const std::string& what, const std::string& region,
                               const std::string& form, const AwsKeys* keys) {
  const auto make = [&]() -> Result<HttpRequest> {
    HttpRequest request{.url = token_service(region), .method = "POST", .body = form};
    request.headers.push_back({"content-type", "application/x-www-form-urlencoded"});
    if (keys != nullptr) sign_v4(*keys, {region.empty() ? "us-east-1" : region, "sts", std::time(nullptr)}, &request);
    return request;
  };
  const std::string whom = "the token service (" + what + ")";
  const Result<HttpAnswer> answer = session->ask(make, kMostBytes);
  if (!answer.ok()) return answer.status();
  if (answer->response.ok()) return keys_from_xml(whom, answer->body);
  return none_from(whom, "it answers " + std::to_string(answer->response.status) + " " + code_in_xml(answer->body));
}

// Tokens for containers go to this machine and to the two fixed addresses only, unless over TLS.
bool may_have_token(const std::string& url) {
  static constexpr std::array<std::string_view, 6> kHosts = {"169.254.170.2", "169.254.170.23", "[fd00:ec2::23]",
                                                             "localhost",     "127.0.0.1",      "[::1]"};
  if (url.starts_with("https://")) return true;
  const std::string_view host = host_of(url);
  return std::any_of(kHosts.begin(), kHosts.end(), [host](std::string_view known) {
    return host.starts_with(known) && (host.size() == known.size() || host[known.size()] == ':');
  });
}

std::string without_line_end(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

}  // namespace

Result<Keys> assume_role_with(RemoteSession* session, const WebIdentity& identity, const std::string& region) {
  HEADRACE_ASSIGN_OR_RETURN(const std::string token, read_small_file(identity.token_file));
  const std::string name = identity.session_name.empty() ? "headrace" : identity.session_name;
  const std::string form = std::string("Action=AssumeRoleWithWebIdentity&Version=") + kApi +
                           "&RoleArn=" + percent_encode(identity.role, false) +
                           "&RoleSessionName=" + percent_encode(name, false) +
                           "&WebIdentityToken=" + percent_encode(without_line_end(token), false);
  return ask_token_service(session, "web identity", region, form, nullptr);
}

Result<Keys> assume_role(RemoteSession* session, const AwsKeys& keys, const std::string& role,
                         const std::string& external_id, const std::string& region) {
  std::string form = std::string("Action=AssumeRole&Version=") + kApi + "&RoleArn=" + percent_encode(role, false) +
                     "&RoleSessionName=headrace";
  if (!external_id.empty()) form += "&ExternalId=" + percent_encode(external_id, false);
  return ask_token_service(session, "role", region, form, &keys);
}

Result<Keys> container_role(RemoteSession* session, const std::string& url) {
  const std::string whom = "the container's agent";
  if (!may_have_token(url))
    return none_from(whom, "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor on this machine");
  std::string token = environment_text("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (const std::string file = environment_text("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !file.empty()) {
    HEADRACE_ASSIGN_OR_RETURN(token, read_small_file(file));
  }
  HttpRequest request{.url = url, .is_metadata = true};
  if (!token.empty()) request.headers.push_back({"authorization", without_line_end(std::move(token))});
  HEADRACE_ASSIGN_OR_RETURN(const HttpAnswer answer,
                            session->ask([&request]() -> Result<HttpRequest> { return request; }, kMostBytes));
  if (answer.response.ok()) return keys_from_json(whom, answer.body);
  return none_from(whom, "it answers " + std::to_string(answer.response.status));
}

Result<std::optional<Keys>> instance_role(RemoteSession* session) {
  std::string base = environment_text("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (base.empty()) base = "http://169.254.169.254";
  while (base.ends_with('/')) base.pop_back();
  const HttpRequest for_token{.url = base + "/latest/api/token",
                              .method = "PUT",
                              .headers = {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}},
                              .is_metadata = true};
  const Result<HttpAnswer> token =
      session->ask([&for_token]() -> Result<HttpRequest> { return for_token; }, kMostBytes, RemoteSession::Tries::kOne);
  if (!token.ok() && token.status().code() == StatusCode::kCancelled) return token.status();
  if (!token.ok() || !token->response.ok()) return std::optional<Keys>();
  const auto ask = [&](const std::string& place) {
    return session->ask(
        [&]() -> Result<HttpRequest> {
          return HttpRequest{.url = base + "/latest/meta-data/iam/security-credentials/" + place,
                             .headers = {{"x-aws-ec2-metadata-token", token->body}},
                             .is_metadata = true};
        },
        kMostBytes);
  };
  HEADRACE_ASSIGN_OR_RETURN(const HttpAnswer roles, ask(""));
  const std::string role = roles.body.substr(0, roles.body.find('\n'));
  if (!roles.response.ok() || role.empty()) return std::optional<Keys>();
  HEADRACE_ASSIGN_OR_RETURN(const HttpAnswer answer, ask(percent_encode(role, false)));
  const std::string whom = "the instance's role '" + role + "'";
  if (!answer.response.ok()) return none_from(whom, "it answers " + std::to_string(answer.response.status));
  HEADRACE_ASSIGN_OR_RETURN(Keys keys, keys_from_json(whom, answer.body));
  return std::optional<Keys>(std::move(keys));
}

}  // namespace headrace
