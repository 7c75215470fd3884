#pragma once

#include <functional>
#include <string>

/// The control socket of a running launcher. Its folder can be entered by its owner only.
namespace apimesh::launcher::shards {

/// Listens at a Unix socket that only this user can open. Throws std::runtime_error.
class ControlSocket {
 public:
  explicit ControlSocket(std::string path);
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;

  int File() const { return file_; }
  const std::string& Path() const { return path_; }
  /// Accepts one connection, reads one line of at most 64 KiB and sends the response of `answer` as a line. Waits at
  /// most a second for the client. A client of another user is refused.
  void Serve(const std::function<std::string(const std::string& line)>& answer) const;

 private:
  const std::string path_;
  int file_ = -1;
};

/// Sends a text to a Unix socket and returns everything that the server sends until it closes the connection. Empty
/// if the server does not respond within a second.
std::string Exchange(const std::string& path, const std::string& text);

}  // namespace apimesh::launcher::shards
