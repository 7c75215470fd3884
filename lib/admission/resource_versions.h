#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/async/task.h"
#include "lib/meta/errors/api_error.h"
#include "lib/meta/object.h"
#include "lib/meta/request/request_context.h"
#include "lib/schema/schema.h"

namespace apimesh::admission {

/// What admission has to know about the versions of the resource of a request: in which other groups and versions the
/// server serves the same objects, and how to represent an object in one of them. Immutable and thread-safe.
class ResourceVersions {
 public:
  struct Version {
    meta::Gvr resource;
    meta::Gvk kind;  // the kind of the subresource, if there is one (Scale)
    bool operator==(const Version&) const = default;
  };
  virtual ~ResourceVersions() = default;

  /// Returns all resources that serve the same objects and have this subresource ("" for the resource itself), in the
  /// order of the server. The requested resource is one of them.
  virtual const std::vector<Version>& Equivalents(std::string_view subresource) const = 0;
  /// Converts an object of one of these kinds to another. The result is complete: it has the defaults of its version.
  virtual Task<meta::Result<meta::Object>> Convert(meta::RequestContext ctx, meta::Object object,
                                                   meta::Gvk kind) const = 0;
  /// Makes an object of a document that a plugin has changed outside of the server: checks the types of its fields,
  /// removes fields that the kind does not have, and sets defaults. A wrong type is an error with the decoder's text.
  virtual meta::Result<meta::Object> Complete(meta::json::object document, const meta::Gvk& kind) const = 0;
  /// Returns the JSON of an object of one of these kinds as the server sends it to clients.
  virtual meta::Result<std::string> ToJson(const meta::Object& object) const = 0;
  /// Returns the schema of one of these kinds, or nullptr if it is not known.
  virtual const schema::Node* SchemaOf(const meta::Gvk& kind) const = 0;
};

}  // namespace apimesh::admission
