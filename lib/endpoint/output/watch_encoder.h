#pragma once

#include "lib/endpoint/output/table.h"
#include "lib/endpoint/request.h"
#include "lib/storage/store.h"

namespace apimesh::endpoint {

/// Encodes watch events as frames in the negotiated encoding. Frames of plain objects are encoded once and shared by
/// all watchers. Use one encoder per watch, because a Table has its column definitions in the first event only.
class WatchEncoder {
 public:
  static meta::Result<WatchEncoder> New(RequestPtr request);

  SharedBytes Encode(const storage::Event& event);
  std::string ContentType() const;

 private:
  WatchEncoder(RequestPtr request, IncludeObject include) : request_(std::move(request)), include_(include) {}
  std::string Frame(std::string_view type, std::string object_json, const schema::Node* node) const;
  std::string Bookmark(const storage::Event& event);
  std::string Transform(std::string_view json);

  RequestPtr request_;
  IncludeObject include_;
  bool headers_ = true;
};

}  // namespace apimesh::endpoint
