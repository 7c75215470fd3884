#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

namespace apimesh::launcher {

/// The report of `object-check`.
class MigrationReport {
 public:
  /// Throws std::runtime_error if the text is no report.
  explicit MigrationReport(const std::string& text);

  const boost::json::object& Document() const { return document_; }
  /// Returns the number of objects that cannot be read or would lose fields.
  std::int64_t Damaged() const;
  /// Returns the flags that a server needs to serve these objects like the original.
  std::vector<std::string> Flags() const;
  /// Returns the summary for people: the number of objects, and each problem with examples.
  std::string Text() const;

 private:
  boost::json::object document_;
};

}  // namespace apimesh::launcher
