#include "lib/endpoint/delete_one.h"
#include "lib/endpoint/encode.h"
#include "lib/endpoint/verbs.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;

/// {"kind":"Status",…,"status":"Success","details":{name, group, kind, uid}}; `kind` is the resource.
json::object Success(const ResourceRequest& request, std::string_view uid) {
  json::object status;
  status["kind"] = "Status";
  status["apiVersion"] = "v1";
  status["metadata"].emplace_object();
  status["status"] = "Success";
  json::object& details = status["details"].emplace_object();
  details["name"] = request.Name();
  const meta::GroupResource resource = request.GetGroupResource();
  if (!resource.group.empty()) details["group"] = resource.group;
  details["kind"] = resource.resource;
  details["uid"] = uid;
  return status;
}

}  // namespace

Task<Answer> Delete(RequestPtr request) {
  ASSIGN_OR_CO_RETURN(const ParsedDeleteOptions parsed, ParseDeleteOptions(*request));
  const bool marks_only = parsed.options.orphan_dependents && !*parsed.options.orphan_dependents;
  ASSIGN_OR_CO_RETURN(const Deleted deleted, co_await DeleteOne(request, request->Namespace(), request->Name(), parsed.options,
                                                                parsed.document));
  const int code = !deleted.gone && marks_only ? 202 : 200;
  const bool whole = request->Resource().returns_deleted_object || (!deleted.gone && !deleted.pending);
  if (!whole) co_return StatusResponse(*request, code, Success(*request, deleted.object.Uid()));
  if (deleted.entry) co_return ObjectResponse(*request, code, deleted.entry);
  co_return ObjectResponse(*request, code, deleted.object);
}

}  // namespace apimesh::endpoint
