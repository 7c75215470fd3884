#include "lib/service/flags.h"

#include <fstream>

#include <gtest/gtest.h>

#include "lib/service/command_line.h"
#include "lib/testing/temp_path.h"

namespace apimesh::service {
namespace {

using namespace std::chrono_literals;

std::optional<int> ParseArguments(CommonFlags& flags, std::vector<std::string> arguments) {
  CommandLine line("test", "");
  flags.Bind(line);
  arguments.insert(arguments.begin(), "test");
  std::vector<char*> raw;
  for (auto& argument : arguments) raw.push_back(argument.data());
  return line.Parse(static_cast<int>(raw.size()), raw.data());
}

TEST(CommonFlags, AreRead) {
  CommonFlags flags;
  EXPECT_FALSE(ParseArguments(
      flags, {"--listen=unix:/a,host:1", "--listen", "unix:/b", "--mesh-ca-file=ca", "--log-format=json"}));
  EXPECT_EQ(flags.listen, (std::vector<std::string>{"unix:/a", "host:1", "unix:/b"}));
  EXPECT_EQ(flags.Listeners("core-api")[1].ca_file, "ca");
  EXPECT_EQ(flags.log_format, "json");
}

TEST(CommonFlags, AnEmptyValueDoesNotSwallowTheNextFlag) {
  CommonFlags flags;
  flags.mesh_key_file = "default";
  EXPECT_FALSE(
      ParseArguments(flags, {"--mesh-ca-file=", "--mesh-cert-file=cert", "--mesh-key-file=", "--log-format=json"}));
  EXPECT_EQ(flags.mesh_ca_file, "");
  EXPECT_EQ(flags.mesh_cert_file, "cert");
  EXPECT_EQ(flags.mesh_key_file, "");
  EXPECT_EQ(flags.log_format, "json");
}

TEST(CommonFlags, MistakesEndWithOne) {
  for (const char* bad : {"--nope", "--log-level=loud", "--shutdown-delay-duration=5", "--tls-records=mine",
                          "--config=/does/not/exist"}) {
    CommonFlags flags;
    EXPECT_EQ(ParseArguments(flags, {bad}), 1) << bad;
  }
  CommonFlags flags;
  EXPECT_EQ(ParseArguments(flags, {"--help"}), 0);
}

TEST(CommonFlags, ConfigFileIsYamlAndTheCommandLineWins) {
  const std::string file = testing::TempPath("flags.yaml");
  std::ofstream(file) << "listen: [unix:/a, unix:/b]\nlog-level: debug\nio-threads: 3\n";
  CommonFlags flags;
  EXPECT_FALSE(ParseArguments(flags, {"--config=" + file, "--log-level=error"}));
  EXPECT_EQ(flags.listen, (std::vector<std::string>{"unix:/a", "unix:/b"}));
  EXPECT_EQ(flags.log_level, "error");
  EXPECT_EQ(flags.io_threads, 3);
  std::ofstream(file) << "nope: 1\n";
  EXPECT_EQ(ParseArguments(flags, {"--config=" + file}), 1);
}

TEST(CommonFlags, EndpointsGetAScheme) {
  const CommonFlags flags;
  EXPECT_EQ(flags.EndpointOf("core-api", "unix:/a").target, "unix:/a");
  EXPECT_EQ(flags.EndpointOf("core-api", "core-api:7443").target, "dns:///core-api:7443");
  EXPECT_EQ(flags.EndpointOf("core-api", "dns:///x:1").target, "dns:///x:1");
}

TEST(ParseDuration, ReadsGoDurations) {
  EXPECT_EQ(ParseDuration("0"), 0ms);
  EXPECT_EQ(ParseDuration("0s"), 0ms);
  EXPECT_EQ(ParseDuration("1h0m0s"), 1h);
  EXPECT_EQ(ParseDuration("1m30s"), 90s);
  EXPECT_EQ(ParseDuration("500ms"), 500ms);
  EXPECT_EQ(ParseDuration("1.5s"), 1500ms);
  for (const char* bad : {"", "5", "s", "1x", "1m5", "-1s"}) EXPECT_FALSE(ParseDuration(bad)) << bad;
}

}  // namespace
}  // namespace apimesh::service
