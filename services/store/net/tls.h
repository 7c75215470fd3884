#pragma once

#include <filesystem>
#include <memory>
#include <string>

typedef struct ssl_ctx_st SSL_CTX;

namespace apimesh::store {

struct TlsFiles {
  std::string cert_file, key_file;
  std::string trusted_ca_file;
  bool client_cert_auth = false;
  bool at_least_1_3 = false;
};

/// The server's certificate and the CA of its clients. Files are reloaded when they change on disk, so that
/// certificates can be renewed without a restart.
class TlsServerContext {
 public:
  /// Throws std::runtime_error if certificate and key cannot be used together.
  explicit TlsServerContext(TlsFiles files);
  ~TlsServerContext();
  /// Returns the context for a new connection. Must be called on the loop thread only.
  SSL_CTX* Current();

 private:
  SSL_CTX* Load() const;
  std::filesystem::file_time_type Newest() const;

  TlsFiles files_;
  SSL_CTX* context_ = nullptr;
  std::filesystem::file_time_type loaded_;
};

}  // namespace apimesh::store
