#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace apimesh::testing {

/// A real etcd on a free port with its own data folder, for one test. It ends with the object.
class EtcdProcess {
 public:
  struct Options {
    std::string binary;                  // empty: FindBinary()
    std::vector<std::string> arguments;  // additional flags
    bool fsync = false;
    std::string scheme = "http";  // for "https", `arguments` must contain the certificates
  };
  /// Throws a descriptive error if there is no binary or etcd does not respond.
  EtcdProcess() : EtcdProcess(Options()) {}
  explicit EtcdProcess(Options options);
  ~EtcdProcess();
  EtcdProcess(const EtcdProcess&) = delete;
  EtcdProcess& operator=(const EtcdProcess&) = delete;

  /// Returns APIMESH_ETCD_BINARY, or etcd36 or etcd on PATH.
  static std::string FindBinary();
  /// Returns Debian's etcd, if it is installed, as a second variant for tests.
  static std::optional<std::string> FindDebianBinary();

  const std::string& Endpoint() const { return endpoint_; }  // "http://127.0.0.1:…"
  const std::string& DataFolder() const { return folder_; }

  /// Starts etcd, which is killed when the calling thread ends. Call this from the test's main thread.
  void Start();
  void Kill();  // kill -9
  void Pause();
  void Continue();
  void WaitUntilReady();

 private:
  Options options_;
  std::string folder_;
  std::string endpoint_;
  int port_ = 0;
  pid_t process_ = -1;
};

}  // namespace apimesh::testing
