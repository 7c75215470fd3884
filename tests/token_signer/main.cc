// test-token-signer SOCKET FOLDER: an external signer of service-account tokens for tests. It reads FOLDER for every
// call, so that a test can change the keys and the behaviour while it runs:
//   NAME.key   a private key with the id NAME; the last one in alphabetical order signs
//   hidden     ids of keys that are excluded from OIDC discovery, separated by spaces
//   settings   "name=value" in each line: refresh (seconds), max_expiration (seconds), sign=garbage, sign=wrong-type,
//              fetch=garbage, fetch=none, sign=hang, fetch=hang
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "lib/base/async/wakeup.h"
#include "lib/base/text/base64.h"
#include "lib/credentials/key.h"
#include "lib/grpc/typed_call.h"
#include "proto/externaljwt/v1/externaljwt.pb.h"
#include "tests/grpc_program.h"

namespace apimesh {
namespace {

std::filesystem::path folder;
constexpr std::chrono::hours kForever{1};

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::map<std::string, credentials::PrivateKey> Keys() {
  std::map<std::string, credentials::PrivateKey> keys;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".key") continue;
    if (auto key = credentials::PrivateKey::FromPem(ReadText(entry.path()))) keys.emplace(entry.path().stem(), *key);
  }
  return keys;
}

std::string Setting(const std::string& name, const std::string& otherwise = "") {
  std::istringstream lines(ReadText(folder / "settings"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + "=")) return line.substr(name.size() + 1);
  }
  return otherwise;
}

Task<v1::SignJWTResponse> Sign(v1::SignJWTRequest request) {
  const std::string how = Setting("sign");
  if (how == "hang") co_await SleepFor(kForever);
  const auto keys = Keys();
  const auto& [id, key] = *keys.rbegin();
  const std::string type = how == "wrong-type" ? "JWE" : "JWT";
  const std::string header = "{\"alg\":\"" + std::string(AlgorithmName(key.Public().DefaultAlgorithm())) +
                             "\",\"kid\":\"" + id + "\",\"typ\":\"" + type + "\"}";
  v1::SignJWTResponse response;
  response.set_header(how == "garbage" ? "garbage" : EncodeBase64Url(header));
  response.set_signature(EncodeBase64Url(key.Sign(response.header() + "." + request.claims())));
  co_return response;
}

Task<v1::FetchKeysResponse> FetchKeys(v1::FetchKeysRequest) {
  const std::string how = Setting("fetch");
  if (how == "hang") co_await SleepFor(kForever);
  v1::FetchKeysResponse response;
  response.mutable_data_timestamp()->set_seconds(1'700'000'000);
  response.set_refresh_hint_seconds(std::stoll(Setting("refresh", "60")));
  std::istringstream words(ReadText(folder / "hidden"));
  const std::set<std::string> hidden{std::istream_iterator<std::string>(words), {}};
  if (how == "none") co_return response;
  for (const auto& [id, key] : Keys()) {
    v1::Key& added = *response.add_keys();
    added.set_key_id(id);
    added.set_key(how == "garbage" ? "garbage" : key.Public().ToDer());
    added.set_exclude_from_oidc_discovery(hidden.contains(id));
  }
  co_return response;
}

Task<v1::MetadataResponse> Metadata(v1::MetadataRequest) {
  v1::MetadataResponse response;
  response.set_max_token_expiration_seconds(std::stoll(Setting("max_expiration", "7200")));
  co_return response;
}

}  // namespace
}  // namespace apimesh

int main(int argc, char** argv) {
  using namespace apimesh;
  if (argc != 3) {
    std::cerr << "usage: test-token-signer SOCKET FOLDER\n";
    return 1;
  }
  folder = argv[2];
  grpc::Methods methods;
  const std::string service = "/v1.ExternalJWTSigner/";
  methods.AddUnary(service + "Sign", grpc::Typed<v1::SignJWTRequest, v1::SignJWTResponse>(&Sign));
  methods.AddUnary(service + "FetchKeys", grpc::Typed<v1::FetchKeysRequest, v1::FetchKeysResponse>(&FetchKeys));
  methods.AddUnary(service + "Metadata", grpc::Typed<v1::MetadataRequest, v1::MetadataResponse>(&Metadata));
  ServeUntilKilled(argv[1], std::move(methods));
}
