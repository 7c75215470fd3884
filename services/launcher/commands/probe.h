#pragma once

#include <string>

namespace apimesh::launcher {

/// A client certificate and its key, as PEM files.
struct ClientCertificate {
  std::string certificate_file, key_file;
};

/// The status code with which https://host:port answers GET `path`; 0 if there is no answer within about a second. The server's
/// certificate is not checked: this asks whether our own child is up, and sends nothing secret.
int HttpsStatus(const std::string& host, int port, const std::string& path, const ClientCertificate* client = nullptr);

/// A port that is free right now on 127.0.0.1.
int FreePort();

}  // namespace apimesh::launcher
