#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace apimesh::aggregator {

/// Named checks behind /healthz, /livez and /readyz, answered in the reference's text form.
class HealthChecks {
 public:
  /// "" if all is well, else what is wrong.
  using Check = std::function<std::string()>;
  struct On {
    bool healthz = true, livez = true, readyz = true;
  };
  void Add(std::string name, On on, Check check);

  struct Answer {
    int code = 200;
    std::string text;
  };
  /// `path` is one for which IsHealthPath() holds.
  Answer Run(std::string_view path, std::string_view query) const;
  /// Paths of all checks, for the index.
  std::vector<std::string> Paths() const;

 private:
  struct Entry {
    std::string name;
    On on;
    Check check;
  };
  std::vector<Entry> entries_;  // fixed before serving begins
};

}  // namespace apimesh::aggregator
