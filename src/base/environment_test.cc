#include "base/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace headrace {
namespace {

// Sets a variable for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(Environment, UnsetMeansDefault) {
  EXPECT_EQ(*environment_threads(), std::nullopt);
  EXPECT_EQ(*environment_memory_limit(), std::nullopt);
  EXPECT_EQ(*environment_cpu(), "auto");
  EXPECT_EQ(*environment_stall_seconds(), 30.0);
  EXPECT_EQ(*environment_log_level(), "notset");
  EXPECT_EQ(*environment_tf_route(), "auto");
  EXPECT_TRUE(check_environment().ok());
  EXPECT_FALSE(is_in_environment("HEADRACE_THREADS"));
}

TEST(Environment, GoodValues) {
  const Variable threads("HEADRACE_THREADS", "3");
  EXPECT_EQ(**environment_threads(), 3);
  const Variable memory("HEADRACE_MEMORY_LIMIT", "2G");
  EXPECT_EQ(**environment_memory_limit(), std::int64_t{2} << 30);
  const Variable cpu("HEADRACE_CPU", "scalar");
  EXPECT_EQ(*environment_cpu(), "scalar");
  const Variable stall("HEADRACE_STALL_SECONDS", "0.5");
  EXPECT_EQ(*environment_stall_seconds(), 0.5);
  const Variable level("HEADRACE_LOG_LEVEL", "debug");
  EXPECT_EQ(*environment_log_level(), "debug");
  const Variable route("HEADRACE_TF_ROUTE", "dataset");
  EXPECT_EQ(*environment_tf_route(), "dataset");
  EXPECT_TRUE(check_environment().ok());
  EXPECT_TRUE(is_in_environment("HEADRACE_THREADS"));
}

TEST(Environment, BadValuesNameVariableAndValue) {
  const Variable threads("HEADRACE_THREADS", "many");
  EXPECT_EQ(environment_threads().status().message(), "HEADRACE_THREADS='many' is not a number of threads >= 1");
  for (const char* bad : {"0", "-1", "1T", "9999999999999G", "1.5G", ""}) {
    const Variable memory("HEADRACE_MEMORY_LIMIT", bad);
    if (*bad == '\0') {
      EXPECT_TRUE(environment_memory_limit().ok());
    } else {
      EXPECT_FALSE(environment_memory_limit().ok()) << bad;
    }
  }
  const Variable cpu("HEADRACE_CPU", "sse9");
  EXPECT_EQ(environment_cpu().status().code(), StatusCode::kInvalidArgument);
  const Variable stall("HEADRACE_STALL_SECONDS", "0");
  EXPECT_FALSE(environment_stall_seconds().ok());
}

TEST(Environment, TheCheckReadsEveryVariable) {
  for (const char* name :
       {"HEADRACE_THREADS", "HEADRACE_MEMORY_LIMIT", "HEADRACE_CPU", "HEADRACE_STALL_SECONDS", "HEADRACE_LOG_LEVEL",
        "HEADRACE_CACHE_DIR", "HEADRACE_TF_ROUTE", "HEADRACE_REMOTE_TIMEOUT", "HEADRACE_REMOTE_ATTEMPTS"}) {
    const Variable variable(name, "nonsense");
    const Status status = check_environment();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message().rfind(std::string(name) + "='nonsense' is not ", 0), 0U) << status.message();
  }
}

TEST(Environment, RemoteLimits) {
  EXPECT_EQ(*environment_remote_timeout(), 30);
  EXPECT_EQ(*environment_remote_attempts(), 8);
  const Variable timeout("HEADRACE_REMOTE_TIMEOUT", "3600");
  EXPECT_EQ(*environment_remote_timeout(), 3600);
  for (const char* bad : {"0", "3601", "-1", "2.5", "30s"}) {
    const Variable variable("HEADRACE_REMOTE_TIMEOUT", bad);
    EXPECT_EQ(environment_remote_timeout().status().message(),
              "HEADRACE_REMOTE_TIMEOUT='" + std::string(bad) + "' is not a number of seconds from 1 to 3600");
  }
}

TEST(Environment, TheFirstCaBundle) {
  const Variable aws("AWS_CA_BUNDLE", "");
  const Variable requests("REQUESTS_CA_BUNDLE", "");
  const Variable none("CURL_CA_BUNDLE", "");
  const Variable ssl("SSL_CERT_FILE", "/ssl.pem");
  EXPECT_EQ(environment_ca_bundle(), "/ssl.pem");
  const Variable curl("CURL_CA_BUNDLE", "/curl.pem");
  EXPECT_EQ(environment_ca_bundle(), "/curl.pem");
}

TEST(Environment, TheCacheFolder) {
  const Variable home("HOME", "/home/me");
  const Variable unset("XDG_CACHE_HOME", "");
  EXPECT_EQ(*environment_cache_dir(), "/home/me/.cache/headrace");
  const Variable relative("XDG_CACHE_HOME", "cache");
  EXPECT_EQ(*environment_cache_dir(), "/home/me/.cache/headrace");
  const Variable xdg("XDG_CACHE_HOME", "/cache");
  EXPECT_EQ(*environment_cache_dir(), "/cache/headrace");
  const Variable ours("HEADRACE_CACHE_DIR", "/ours");
  EXPECT_EQ(*environment_cache_dir(), "/ours");
}

TEST(Environment, LocalProcesses) {
  EXPECT_EQ(environment_local_processes(), 1);
  const Variable slurm("SLURM_NTASKS_PER_NODE", "8");
  EXPECT_EQ(environment_local_processes(), 8);
  const Variable local("LOCAL_WORLD_SIZE", "4");
  EXPECT_EQ(environment_local_processes(), 4);
}

}  // namespace
}  // namespace headrace
