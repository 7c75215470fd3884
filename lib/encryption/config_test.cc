#include "lib/encryption/config.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "lib/encryption/providers.h"
#include "lib/testing/manual_clock.h"

namespace apimesh::encryption {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string File(std::string_view resources) {
  return fmt::format("apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n{}",
                     resources);
}

const std::string kKey32 = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

std::string Rule(std::string_view resources, std::string_view providers) {
  return fmt::format("- resources: [{}]\n  providers: [{}]\n", resources, providers);
}
std::string Aes(std::string_view provider, std::string_view name, std::string_view secret) {
  return fmt::format("{{{}: {{keys: [{{name: {}, secret: {}}}]}}}}", provider, name, secret);
}

std::vector<std::string> Complaints(std::string_view resources, bool reload = false) {
  const auto config = ParseConfig(File(resources));
  if (!config) return {config.error().message};
  std::vector<std::string> texts;
  for (const auto& error : Validate(*config, reload)) texts.push_back(error.field + ": " + error.Message());
  return texts;
}

TEST(EncryptionConfig, AcceptsEveryProvider) {
  EXPECT_THAT(Complaints(Rule("secrets, deployments.apps",
                              Aes("aesgcm", "a", kKey32) + "," + Aes("aescbc", "b", kKey32) + "," +
                                  Aes("secretbox", "c", kKey32) +
                                  ",{kms: {apiVersion: v2, name: k, endpoint: 'unix:///s'}},{identity: {}}")),
              IsEmpty());
  EXPECT_THAT(
      Complaints(Rule("'*.'", "{identity: {}}") + Rule("'*.apps'", "{identity: {}}") + Rule("'*.*'", "{identity: {}}")),
      IsEmpty());
}

struct Case {
  const char* name;
  std::string resources;
  std::string want;
};
const std::string kNone = "{identity: {}}";
const Case kCases[] = {
    {"NoRules", "  []", "resources: Required value: at least one resources is required"},
    {"NoResources", Rule("", kNone),
     "resources[0].resources: Required value: at least one resources[0].resources is required"},
    {"NoProviders", Rule("secrets", ""),
     "resources[0].providers: Required value: at least one resources[0].providers is required"},
    {"Star", Rule("'*'", kNone),
     "resources[0].resources[0]: Invalid value: \"*\": use '*.' to encrypt all the resources from core API group or "
     "*.* to encrypt all resources"},
    {"Capital", Rule("Secrets", kNone),
     "resources[0].resources[0]: Invalid value: \"Secrets\": resource name should not contain capital letters"},
    {"Twice", Rule("secrets, secrets", kNone),
     "resources[0].resources: Invalid value: [\"secrets\",\"secrets\"]: the same resource cannot be specified multiple "
     "times"},
    {"Overlap", Rule("secrets, '*.'", kNone),
     "resources[0].resources: Invalid value: [\"secrets\",\"*.\"]: using overlapping resources such as 'secrets' and "
     "'*.' in the same resource list is not allowed as they will be masked"},
    {"Events", Rule("events.events.k8s.io", kNone),
     "resources[0].resources[0]: Invalid value: \"events.events.k8s.io\": '*.events.k8s.io' objects are stored using "
     "the 'events' API group in etcd. Use 'events' instead in the config file"},
    {"Extensions", Rule("ingresses.extensions", kNone),
     "resources[0].resources[0]: Invalid value: \"ingresses.extensions\": 'extensions' group has been removed and "
     "cannot be used for encryption"},
    {"AcrossGroups", Rule("'secrets.*'", kNone),
     "resources[0].resources[0]: Invalid value: \"secrets.*\": encrypting the same resource across groups is not "
     "supported"},
    {"NoRest", Rule("apiserveripinfo", kNone),
     "resources[0].resources[0]: Invalid value: \"apiserveripinfo\": resources which do not have REST API/s cannot be "
     "encrypted"},
    {"Empty", Rule("secrets", "{}"),
     "resources[0].providers[0]: Invalid value: \"REDACTED\": provider does not contain any of the expected providers: "
     "KMS, AESGCM, AESCBC, Secretbox, Identity"},
    {"NoKeys", Rule("secrets", "{aesgcm: {keys: []}}"),
     "resources[0].providers[0].aesgcm.keys: Required value: at least one keys is required"},
    {"NoName", Rule("secrets", Aes("aesgcm", "''", kKey32)),
     "resources[0].providers[0].aesgcm.keys[0].name: Required value: name is a mandatory field for a key"},
    {"NoSecret", Rule("secrets", Aes("aesgcm", "a", "''")),
     "resources[0].providers[0].aesgcm.keys[0].secret: Required value: secret is a mandatory field for a key"},
    {"NotBase64", Rule("secrets", Aes("aescbc", "a", "'%%'")),
     "resources[0].providers[0].aescbc.keys[0].secret: Invalid value: \"REDACTED\": secrets must be base64 encoded"},
    {"WrongLength", Rule("secrets", Aes("aescbc", "a", "YWJj")),
     "resources[0].providers[0].aescbc.keys[0].secret: Invalid value: \"REDACTED\": secret is not of the expected "
     "length, got 3, expected one of [16 24 32]"},
    {"BoxLength", Rule("secrets", Aes("secretbox", "a", "YWJj")),
     "resources[0].providers[0].secretbox.keys[0].secret: Invalid value: \"REDACTED\": secret is not of the expected "
     "length, got 3, expected one of [32]"},
    {"KmsColon", Rule("secrets", "{kms: {apiVersion: v2, name: 'a:b', endpoint: 'unix:///s'}}"),
     "resources[0].providers[0].kms.name: Invalid value: \"a:b\": invalid KMS provider name a:b, must not contain ':'"},
    {"KmsScheme", Rule("secrets", "{kms: {apiVersion: v2, name: a, endpoint: 'tcp://h:1'}}"),
     "resources[0].providers[0].kms.endpoint: Invalid value: \"tcp://h:1\": unsupported scheme \"tcp\" for KMS "
     "provider, only unix is supported"},
    {"KmsCache", Rule("secrets", "{kms: {apiVersion: v2, name: a, endpoint: 'unix:///s', cachesize: 5}}"),
     "resources[0].providers[0].kms.cachesize: Invalid value: 5: cachesize is not supported in v2"},
    {"KmsTwice",
     Rule("secrets",
          "{kms: {apiVersion: v2, name: a, endpoint: 'unix:///s'}},{kms: {apiVersion: v2, name: a, endpoint: "
          "'unix:///t'}}"),
     "resources[0].providers[1].kms.name: Invalid value: \"a\": duplicate KMS provider name a, names must be unique"},
    {"UnknownField", Rule("secrets", "{aesgmc: {}}"),
     "strict decoding error: unknown field \"resources[0].providers[0].aesgmc\""},
};

class Refused : public ::testing::TestWithParam<Case> {};
TEST_P(Refused, HasKubeApiserversMessages) {
  EXPECT_THAT(Complaints(GetParam().resources), ElementsAre(GetParam().want));
}
INSTANTIATE_TEST_SUITE_P(Table, Refused, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(EncryptionConfig, OtherKindsAreRefused) {
  EXPECT_THAT(ParseConfig("apiVersion: v1\nkind: Secret\n").error().message, HasSubstr("no kind \"Secret\""));
  EXPECT_FALSE(ParseConfig("a: [b"));
}

Providers Made(std::string_view resources) {
  const auto config = ParseConfig(File(resources));
  EXPECT_TRUE(config) << config.error().message;
  const testing::ManualClock clock;
  auto providers = MakeProviders(*config, clock);
  EXPECT_TRUE(providers) << providers.error().message;
  return std::move(*providers);
}

TEST(Providers, WritesKubeApiserversPrefix) {
  const Providers providers = Made(Rule("secrets", Aes("aesgcm", "key1", kKey32)));
  const std::string stored = *providers.For({"secrets", ""})->Seal("{}", "/k");
  EXPECT_TRUE(stored.starts_with("k8s:enc:aesgcm:v1:key1:")) << stored;
  EXPECT_EQ(*providers.For({"configmaps", ""})->Seal("{}", "/k"), "{}");
}

TEST(Providers, WildcardsGoFromNarrowToWide) {
  const Providers providers =
      Made(Rule("secrets", Aes("aesgcm", "s", kKey32)) + Rule("'*.apps'", Aes("aesgcm", "apps", kKey32)) +
           Rule("'*.'", Aes("aesgcm", "core", kKey32)) + Rule("'*.*'", Aes("aesgcm", "all", kKey32)));
  const auto key = [&](std::string resource, std::string group) {
    return providers.For({std::move(resource), std::move(group)})->Seal("{}", "/k")->substr(18, 4);
  };
  EXPECT_THAT(key("secrets", ""), HasSubstr("s:"));
  EXPECT_EQ(key("deployments", "apps"), "apps");
  EXPECT_EQ(key("pods", ""), "core");
  EXPECT_THAT(key("widgets", "example.com"), HasSubstr("all"));
}

TEST(Providers, AMaskedRuleIsRefused) {
  const auto config = ParseConfig(File(Rule("'*.'", kNone) + Rule("secrets", kNone)));
  const testing::ManualClock clock;
  EXPECT_EQ(MakeProviders(*config, clock).error().message, "resource \"secrets\" is masked by earlier rule \"*.\"");
}

TEST(Providers, KeyRotation) {
  const std::string other = "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=";
  const TransformerPtr old = Made(Rule("secrets", Aes("aescbc", "k1", kKey32))).For({"secrets", ""});
  const std::string stored = *old->Seal("{}", "/k");
  const TransformerPtr both =
      Made(Rule("secrets", fmt::format("{{aescbc: {{keys: [{{name: k2, secret: {}}}, {{name: k1, secret: {}}}]}}}}",
                                       other, kKey32)))
          .For({"secrets", ""});
  ASSERT_TRUE(both->Open(stored, "/k"));
  EXPECT_EQ(both->Open(stored, "/k")->plain, "{}");
  EXPECT_TRUE(both->Open(stored, "/k")->stale);
  const std::string rewritten = *both->Seal("{}", "/k");
  EXPECT_TRUE(rewritten.starts_with("k8s:enc:aescbc:v1:k2:"));
  EXPECT_FALSE(both->Open(rewritten, "/k")->stale);
  EXPECT_EQ(old->Open(rewritten, "/k").error().message, "no matching key was found for the provided AES transformer");
}

TEST(Providers, LeavingAndBeginningEncryption) {
  const TransformerPtr begins = Made(Rule("secrets", Aes("secretbox", "k", kKey32) + "," + kNone)).For({"secrets", ""});
  EXPECT_TRUE(begins->Open("{}", "/k")->stale);
  const TransformerPtr leaves = Made(Rule("secrets", kNone + "," + Aes("secretbox", "k", kKey32))).For({"secrets", ""});
  const std::string stored = *begins->Seal("{}", "/k");
  EXPECT_EQ(leaves->Open(stored, "/k")->plain, "{}");
  EXPECT_TRUE(leaves->Open(stored, "/k")->stale);
  EXPECT_EQ(*leaves->Seal("{}", "/k"), "{}");
  const TransformerPtr strangers = Made(Rule("secrets", Aes("aesgcm", "k", kKey32))).For({"secrets", ""});
  EXPECT_EQ(strangers->Open(stored, "/k").error().message, "no matching prefix found");
}

}  // namespace
}  // namespace apimesh::encryption
