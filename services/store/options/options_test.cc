#include "services/store/options/options.h"

#include <gtest/gtest.h>

namespace apimesh::store {
namespace {

TEST(Options, AcceptsEtcdsSyntax) {
  const Options options = ParseOptions({"--data-dir", "d", "-name=n", "--listen-client-urls=http://a:1,unix:///s",
                                        "--client-cert-auth", "--unsafe-no-fsync", "--snapshot-count", "5",
                                        "--initial-cluster", "n=http://a:2", "--pre-vote=false"});
  EXPECT_EQ(options.data_dir, "d");
  EXPECT_EQ(options.name, "n");
  EXPECT_EQ(options.listen_client_urls, (std::vector<std::string>{"http://a:1", "unix:///s"}));
  EXPECT_TRUE(options.tls.client_cert_auth);
  EXPECT_FALSE(options.sync);
}

TEST(Options, ReadsRetentionInItsMode) {
  EXPECT_EQ(ParseOptions({"--auto-compaction-retention", "1"}).auto_compaction_period, std::chrono::hours(1));
  EXPECT_EQ(ParseOptions({"--auto-compaction-retention", "5m30s"}).auto_compaction_period, std::chrono::seconds(330));
  const Options by_revision = ParseOptions({"--auto-compaction-mode=revision", "--auto-compaction-retention=1000"});
  EXPECT_EQ(by_revision.auto_compaction_revisions, 1000);
}

TEST(Options, ProgressIntervalHasAMinimum) {
  const auto interval = [](const char* flag) { return ParseOptions({flag}).watch_progress_notify_interval; };
  EXPECT_EQ(ParseOptions({}).watch_progress_notify_interval, std::chrono::minutes(10));
  EXPECT_EQ(interval("--watch-progress-notify-interval=5s"), std::chrono::seconds(5));
  EXPECT_EQ(interval("--experimental-watch-progress-notify-interval=5s"), std::chrono::seconds(5));
  EXPECT_EQ(interval("--watch-progress-notify-interval=1ms"), std::chrono::milliseconds(100));
  EXPECT_EQ(interval("--watch-progress-notify-interval=0"), std::chrono::minutes(10));
}

struct Case {
  std::vector<std::string> arguments;
  const char* message;
};
class BadOptions : public ::testing::TestWithParam<Case> {};

TEST_P(BadOptions, AreExplained) {
  try {
    ParseOptions(GetParam().arguments);
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), GetParam().message);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadOptions,
    ::testing::Values(
        Case{{"--no-such-flag"}, "unknown flag: --no-such-flag"},
        Case{{"--data-dir"}, "flag needs a value: --data-dir"}, Case{{"serve"}, "unexpected argument: serve"},
        Case{{"--client-crl-file=f"}, "flag not supported by this store: --client-crl-file"},
        Case{{"--initial-cluster", "a=http://a:1,b=http://b:1"},
             "invalid value \"a=http://a:1,b=http://b:1\" for flag --initial-cluster: this store "
             "supports only one member"},
        Case{{"--tls-min-version=SSL3"}, "invalid value \"SSL3\" for flag --tls-min-version: not a TLS version"},
        Case{{"--max-txn-ops=x"}, "invalid value \"x\" for flag --max-txn-ops: not a number: x"},
        Case{{"--auto-compaction-mode=no", "--auto-compaction-retention=1"}, "unknown auto-compaction-mode \"no\""}));

}  // namespace
}  // namespace apimesh::store
