#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace apimesh::testing {

/// A real etcd on a free port with a data folder of its own, for one test. Ends with the object.
class EtcdProcess {
 public:
  struct Options {
    std::string binary;                  // empty: FindBinary()
    std::vector<std::string> arguments;  // more flags
    bool fsync = false;
    std::string scheme = "http";         // "https": `arguments` have the certificates
  };
  /// Throws with a clear text if there is no binary or it does not answer.
  EtcdProcess() : EtcdProcess(Options()) {}
  explicit EtcdProcess(Options options);
  ~EtcdProcess();
  EtcdProcess(const EtcdProcess&) = delete;
  EtcdProcess& operator=(const EtcdProcess&) = delete;

  /// APIMESH_ETCD_BINARY, else etcd36 or etcd on PATH.
  static std::string FindBinary();
  /// Debian's own etcd, a second variant where it is installed.
  static std::optional<std::string> FindDebianBinary();

  const std::string& Endpoint() const { return endpoint_; }  // "http://127.0.0.1:…"
  const std::string& DataFolder() const { return folder_; }

  /// etcd ends with the thread that started it: call this from the test's own thread.
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
