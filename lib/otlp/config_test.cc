#include "lib/otlp/config.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace apimesh::otlp {
namespace {

std::string Text(std::string_view fields, std::string_view version = "v1") {
  return "apiVersion: apiserver.config.k8s.io/" + std::string(version) + "\nkind: TracingConfiguration\n" +
         std::string(fields);
}

std::string ErrorOf(std::string_view text) {
  try {
    ParseConfig(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(ParseConfig, ReadsEveryVersion) {
  for (const std::string_view version : {"v1", "v1beta1", "v1alpha1"}) {
    const Config config = ParseConfig(Text("endpoint: 127.0.0.1:4317\nsamplingRatePerMillion: 100\n", version));
    EXPECT_EQ(config.endpoint, "127.0.0.1:4317");
    EXPECT_EQ(config.sampling_rate_per_million, 100);
  }
}

TEST(ParseConfig, HasDefaults) {
  for (const std::string& text : {std::string(), Text(""), Text("endpoint: null\nsamplingRatePerMillion: null\n")}) {
    const Config config = ParseConfig(text);
    EXPECT_EQ(config.endpoint, "");
    EXPECT_EQ(config.sampling_rate_per_million, 0);
  }
}

TEST(ParseConfig, AcceptsTheTargetsOfGrpc) {
  for (const std::string_view endpoint :
       {"localhost:4317", "dns:///collector:4317", "unix:///run/collector.sock", "unix-abstract://name"}) {
    EXPECT_EQ(ErrorOf(Text("endpoint: " + std::string(endpoint))), "") << endpoint;
  }
}

TEST(ParseConfig, FailsWithTheMessagesOfKubeApiserver) {
  const std::string undecodable = "failed to read tracing config: unable to decode tracing configuration data: ";
  const std::string invalid = "failed to validate tracing configuration: ";
  const struct {
    std::string text, error;
  } cases[] = {
      {Text("more: 1\n"), undecodable + "strict decoding error: unknown field \"more\""},
      {Text("endpoint: a:1\nendpoint: a:2\n"),
       undecodable + "strict decoding error: yaml: unmarshal errors:\n  line 4: key \"endpoint\" already set in map"},
      {Text("", "v2"), undecodable +
                           "no kind \"TracingConfiguration\" is registered for version \"apiserver.config.k8s.io/v2\" "
                           "in scheme \"pkg/runtime/scheme.go:111\""},
      {"kind: DaemonSet\n", undecodable + "no kind \"DaemonSet\" is registered for the internal version of group "
                                          "\"apiserver.config.k8s.io\" in scheme \"pkg/runtime/scheme.go:111\""},
      {"[]\n",
       undecodable +
           "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type "
           R"(struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" })"},
      {Text("endpoint: 1\n"), undecodable + "json: cannot unmarshal number into Go struct field "
                                            "TracingConfiguration.TracingConfiguration.endpoint "
                                            "of type string"},
      {Text("samplingRatePerMillion: 3000000000\n"),
       undecodable + "json: cannot unmarshal number 3000000000 into Go struct field "
                     "TracingConfiguration.TracingConfiguration.samplingRatePerMillion of type int32"},
      {Text("samplingRatePerMillion: -1\n"),
       invalid + "samplingRatePerMillion: Invalid value: -1: sampling rate must be positive"},
      {Text("samplingRatePerMillion: 1000001\n"),
       invalid +
           "samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than or equal to "
           "one million"},
      {Text("endpoint: http://localhost:4318\n"),
       invalid +
           "endpoint: Invalid value: \"http://localhost:4318\": unsupported scheme: http.  Options are none, dns, "
           "unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md"},
      {Text("endpoint: localhost:port\n"),
       invalid +
           "endpoint: Invalid value: \"dns://localhost:port\": parse \"dns://localhost:port\": invalid port \":port\" "
           "after host"},
      {Text("samplingRatePerMillion: -1\nendpoint: http://a\n"),
       invalid + "[samplingRatePerMillion: Invalid value: -1: sampling rate must be positive, endpoint: Invalid value: "
                 "\"http://a\": unsupported scheme: http.  Options are none, dns, unix, or unix-abstract.  See "
                 "https://github.com/grpc/grpc/blob/master/doc/naming.md]"},
  };
  for (const auto& c : cases) EXPECT_EQ(ErrorOf(c.text), c.error) << c.text;
}

TEST(ReadConfig, NamesAFileThatIsMissing) {
  try {
    ReadConfig("/no/such/file");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "failed to read tracing config: unable to read tracing configuration from \"/no/such/file\": open "
                 "/no/such/file: no such file or directory");
  }
}

}  // namespace
}  // namespace apimesh::otlp
