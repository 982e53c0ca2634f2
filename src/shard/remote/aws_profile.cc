#include "shard/remote/aws_profile.h"

#include "base/environment.h"
#include "shard/file.h"

namespace headrace {
namespace {

constexpr std::uint64_t kMostBytes = 1 << 20;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// AWS_…_FILE, else the place below HOME.
std::string place(const char* variable, const char* below_home) {
  std::string path = environment_text(variable);
  const std::string home = environment_text("HOME");
  if (path.empty()) return home.empty() ? std::string() : home + below_home;
  if (path.starts_with("~/")) path.replace(0, 1, home);
  return path;
}

}  // namespace

AwsProfile parse_profile(std::string_view text, std::string_view section) {
  AwsProfile profile;
  bool is_in_section = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool is_nested = !line.empty() && (line.front() == ' ' || line.front() == '\t');
    line = trimmed(line);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      const std::size_t close = line.find(']');
      is_in_section = close != std::string_view::npos && trimmed(line.substr(1, close - 1)) == section;
      continue;
    }
    const std::size_t equals = line.find('=');
    if (!is_in_section || is_nested || equals == std::string_view::npos) continue;
    std::string_view value = trimmed(line.substr(equals + 1));
    const std::size_t comment = value.find(" #");
    if (comment != std::string_view::npos) value = trimmed(value.substr(0, comment));
    profile[std::string(trimmed(line.substr(0, equals)))] = std::string(value);
  }
  return profile;
}

Result<std::string> read_small_file(const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const File file, File::open(path));
  if (file.size() > kMostBytes) return invalid_argument("too large for a file of settings: " + path);
  std::string text(file.size(), '\0');
  HEADRACE_ASSIGN_OR_RETURN(const std::size_t n,
                            file.read_at(reinterpret_cast<std::uint8_t*>(text.data()), text.size(), 0));
  text.resize(n);
  return text;
}

Result<AwsProfile> read_aws_profile(const std::string& name) {
  AwsProfile profile;
  const auto add = [&profile](const std::string& path, const std::string& section) -> Status {
    if (path.empty()) return {};
    const Result<std::string> text = read_small_file(path);
    if (text.ok()) {
      profile.merge(parse_profile(*text, section));
    } else if (text.status().code() != StatusCode::kNotFound) {
      return invalid_argument("the AWS profiles cannot be read: " + text.status().to_string());
    }
    return {};
  };
  HEADRACE_RETURN_IF_ERROR(add(place("AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials"), name));
  const std::string config = place("AWS_CONFIG_FILE", "/.aws/config");
  HEADRACE_RETURN_IF_ERROR(add(config, name == "default" ? name : "profile " + name));
  return profile;
}

std::string aws_profile_name() {
  for (const char* variable : {"AWS_PROFILE", "AWS_DEFAULT_PROFILE"}) {
    if (std::string name = environment_text(variable); !name.empty()) return name;
  }
  return "default";
}

}  // namespace headrace
