#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/flags/binder.h"
#include "lib/flags/binding_errors.h"
#include "lib/flags/flag_table.h"
#include "lib/flags/option_set.h"

namespace apimesh::flags {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Accepts every binding.
class AnyBinder final : public Binder {
  void Add(const Flag&, Field) override {}
};

struct Options {
  bool anonymous = false;
  int reads = 0, threads = 7;
  std::size_t body_bytes = 0;
  std::string prefix;
  std::vector<std::string> address_types{"changed"};
  std::chrono::milliseconds timeout{};

  Options() { ApplyDefaults(*this); }
  void Bind(Binder& flags) {
    flags.Bind("anonymous-auth", anonymous);
    flags.Bind("max-requests-inflight", reads);
    flags.Bind("io-threads", threads);
    flags.Bind("max-body-bytes-inflight", body_bytes);
    flags.Bind("etcd-prefix", prefix);
    flags.Bind("kubelet-preferred-address-types", address_types);
    flags.Bind("request-timeout", timeout);
  }
};

TEST(ApplyDefaults, SetsFieldsToTheDefaultsOfTheTable) {
  const Options options;
  EXPECT_TRUE(options.anonymous);
  EXPECT_EQ(options.reads, 400);
  EXPECT_EQ(options.threads, 7) << "a number without a default in the table keeps its value";
  EXPECT_EQ(options.body_bytes, 64u << 20);
  EXPECT_EQ(options.prefix, "/registry");
  EXPECT_THAT(options.address_types, ElementsAre("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"));
  EXPECT_EQ(options.timeout, std::chrono::minutes(1));
}

TEST(Bind, RefusesAFlagThatTheTableDoesNotHave) {
  AnyBinder flags;
  std::string field;
  EXPECT_THROW(flags.Bind("no-such-flag", field), std::logic_error);
}

TEST(Bind, RefusesAFieldOfAnotherType) {
  AnyBinder flags;
  int number = 0;
  bool boolean = false;
  std::string text;
  std::vector<std::string> list;
  EXPECT_NO_THROW(flags.Bind("event-ttl", text)) << "a duration may be kept as text";
  EXPECT_NO_THROW(flags.Bind("tls-sni-cert-key", list));
  EXPECT_THROW(flags.Bind("event-ttl", number), std::logic_error);
  EXPECT_THROW(flags.Bind("anonymous-auth", text), std::logic_error);
  EXPECT_THROW(flags.Bind("etcd-prefix", boolean), std::logic_error);
  EXPECT_THROW(flags.Bind("etcd-servers", text), std::logic_error);
  EXPECT_THROW(flags.Bind("secure-port", list), std::logic_error);
}

TEST(BindingRecorder, FindsFlagsThatAreNotBoundBoundTwiceOrReadByNoService) {
  BindingRecorder recorder;
  std::string size, prefix;
  recorder.Bind("log-text-info-buffer-size", size);
  recorder.Bind("etcd-prefix", prefix);
  recorder.Bind("etcd-prefix", prefix);
  const std::vector<std::string> errors = recorder.Errors(kCoreApi);
  EXPECT_THAT(errors, Contains("--log-text-info-buffer-size is bound, but the table says that no service reads it"));
  EXPECT_THAT(errors, Contains("--etcd-prefix is bound twice"));
  EXPECT_THAT(errors, Contains("--event-ttl is not bound"));
}

TEST(FlagTable, HasFlagsOfKubeApiserverFirst) {
  EXPECT_GT(KubeApiserverFlags().size(), 170u);
  EXPECT_LT(KubeApiserverFlags().size(), AllFlags().size());
  EXPECT_EQ(KubeApiserverFlags().front().section, "Generic");
  EXPECT_NE(FindFlag("listen"), nullptr);
  for (const Flag& flag : KubeApiserverFlags()) EXPECT_NE(flag.name, "listen");
}

TEST(FlagTable, EveryDefaultFitsTheType) {
  for (const Flag& flag : AllFlags()) {
    if (flag.type == FlagType::kBool) {
      EXPECT_TRUE(flag.default_value == "true" || flag.default_value == "false") << flag.name;
    }
    EXPECT_THAT(std::string(flag.help), Not(HasSubstr("\n"))) << flag.name;
    EXPECT_FALSE(flag.help.empty()) << flag.name;
  }
}

TEST(AllowedValues, SplitsTheList) {
  EXPECT_THAT(AllowedValues(*FindFlag("log-format")), ElementsAre("text", "json"));
  EXPECT_TRUE(AllowedValues(*FindFlag("etcd-prefix")).empty());
}

TEST(OptionSet, KeepsOneStructPerType) {
  struct One {
    int value = 1;
  };
  struct Two {
    int value = 2;
  };
  OptionSet set;
  EXPECT_EQ(std::as_const(set).Get<One>().value, 1);
  set.Get<One>().value = 5;
  const OptionSet copy = set;
  set.Get<One>().value = 6;
  EXPECT_EQ(copy.Get<One>().value, 5);
  EXPECT_EQ(copy.Get<Two>().value, 2);
}

}  // namespace
}  // namespace apimesh::flags
