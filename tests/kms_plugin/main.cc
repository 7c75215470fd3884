// test-kms-plugin SOCKET KEY-FILE: a KMS v2 plugin for tests. KEY-FILE holds the id of the newest key, which may change
// while the plugin runs; a key is made of its id. Never for secrets that matter.
#include <fstream>
#include <iostream>

#include <openssl/sha.h>

#include "lib/encryption/ciphers.h"
#include "lib/grpc/typed_call.h"
#include "proto/kms/v2/kms.pb.h"
#include "tests/grpc_program.h"

namespace apimesh {
namespace {

std::string key_file;

std::string NewestKey() {
  std::string id;
  std::ifstream(key_file) >> id;
  return id;
}

encryption::TransformerPtr Cipher(const std::string& id) {
  std::string key(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(id.data()), id.size(), reinterpret_cast<unsigned char*>(key.data()));
  return encryption::AesGcm(std::move(key));
}

Task<v2::StatusResponse> Status(v2::StatusRequest) {
  v2::StatusResponse response;
  response.set_version("v2");
  response.set_healthz("ok");
  response.set_key_id(NewestKey());
  co_return response;
}

Task<v2::EncryptResponse> Encrypt(v2::EncryptRequest request) {
  v2::EncryptResponse response;
  response.set_key_id(NewestKey());
  response.set_ciphertext(*Cipher(response.key_id())->Seal(request.plaintext(), response.key_id()));
  (*response.mutable_annotations())["version.kms.example.com"] = "1";
  co_return response;
}

Task<v2::DecryptResponse> Decrypt(v2::DecryptRequest request) {
  v2::DecryptResponse response;
  const auto opened = Cipher(request.key_id())->Open(request.ciphertext(), request.key_id());
  if (opened && request.annotations().count("version.kms.example.com")) response.set_plaintext(opened->plain);
  co_return response;
}

}  // namespace
}  // namespace apimesh

int main(int argc, char** argv) {
  using namespace apimesh;
  if (argc != 3) {
    std::cerr << "usage: test-kms-plugin SOCKET KEY-FILE\n";
    return 1;
  }
  key_file = argv[2];
  grpc::Methods methods;
  methods.AddUnary("/v2.KeyManagementService/Status", grpc::Typed<v2::StatusRequest, v2::StatusResponse>(&Status));
  methods.AddUnary("/v2.KeyManagementService/Encrypt", grpc::Typed<v2::EncryptRequest, v2::EncryptResponse>(&Encrypt));
  methods.AddUnary("/v2.KeyManagementService/Decrypt", grpc::Typed<v2::DecryptRequest, v2::DecryptResponse>(&Decrypt));
  ServeUntilKilled(argv[1], std::move(methods));
}
