#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace apimesh::aggregator {

/// Splits the body of a watch's response into events: lines of JSON, which keep their line break, or messages of
/// protobuf, without the four bytes of their length.
class EventMessages {
 public:
  explicit EventMessages(bool json) : json_(json) {}

  void Append(std::string_view data);
  /// Returns the next complete event, or nullopt if more data is needed. The view is valid until the next Append().
  std::optional<std::string_view> Next();

 private:
  const bool json_;
  std::string data_;
  std::size_t begin_ = 0;     // of the bytes that were not returned
  std::size_t searched_ = 0;  // there is no line break between begin_ and this position
};

}  // namespace apimesh::aggregator
