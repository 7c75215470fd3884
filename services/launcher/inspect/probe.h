#pragma once

#include <optional>
#include <string>

namespace apimesh::launcher {

/// A client certificate and its key, as PEM files.
struct ClientCertificate {
  std::string certificate_file, key_file;
};

/// Returns the HTTP status of GET `path` at https://host:port; 0 if there is no response within about a second. The
/// server's certificate is not verified: the function only checks whether a child of the launcher is up, and sends no
/// secrets.
int HttpsStatus(const std::string& host, int port, const std::string& path, const ClientCertificate* client = nullptr);

/// Returns the body of GET `path`, of at most 16 MiB, if its status is 200; otherwise an empty text. Other properties
/// are those of HttpsStatus().
std::string HttpsBody(const std::string& host, int port, const std::string& path, const ClientCertificate& client);

struct Address {
  std::string host;
  int port = 0;
};
/// Parses "https://HOST:PORT", as the state of a mesh has it; nullopt if the text is something else.
std::optional<Address> ParseServer(const std::string& url);

/// Returns a port that is currently free on 127.0.0.1.
int FreePort();

}  // namespace apimesh::launcher
