#include "lib/endpoint/output/encode.h"
#include "lib/endpoint/verbs/delete_one.h"
#include "lib/endpoint/verbs/verbs.h"
#include "lib/mesh/audit_headers.h"
#include "lib/tracing/span.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;

/// Returns {"kind":"Status",…,"status":"Success","details":{name, group, kind, uid}}, where `kind` is the resource.
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
  if (!uid.empty()) details["uid"] = uid;
  return status;
}

Task<meta::Result<bool>> Unreadable(RequestPtr request) {
  ASSIGN_OR_CO_RETURN(const storage::Key key, request->KeyOf(request->Name()));
  const storage::GetOptions newest;
  const meta::Result<storage::EntryPtr> found = co_await request->served->store->Get(request->ctx, key, newest);
  co_return !found && found.error().Code() == 500;
}

/// Deletes an object that cannot be read, if the user is authorized to. Admission, preconditions, finalizers and the
/// grace period are skipped.
Task<Answer> DeleteUnseen(RequestPtr request, bool dry_run) {
  if (!request->env->authorize_unsafe_delete) {
    co_return meta::InternalError("no authorizer provided, unable to authorize unsafe delete");
  }
  CO_RETURN_IF_ERROR(co_await request->env->authorize_unsafe_delete(request->ctx));
  ASSIGN_OR_CO_RETURN(const storage::Key key, request->KeyOf(request->Name()));
  const storage::StorePtr& store = request->served->store;
  if (!dry_run) CO_RETURN_IF_ERROR(co_await store->DeleteUnreadable(request->ctx, key));
  co_return StatusResponse(*request, 200, Success(*request, ""));
}

}  // namespace

Task<Answer> Delete(RequestPtr request) {
  ASSIGN_OR_CO_RETURN(const ParsedDeleteOptions parsed, ParseDeleteOptions(*request));
  if (parsed.options
          .ignore_read_error) {  // has no effect if the object is readable, but is always recorded in the audit event
    request->extra_headers.emplace_back(mesh::kAuditAnnotationHeader,
                                        "apiserver.k8s.io/unsafe-delete-ignore-read-error=");
    ASSIGN_OR_CO_RETURN(const bool unreadable, co_await Unreadable(request));
    if (unreadable) co_return co_await DeleteUnseen(request, parsed.options.dry_run);
  }
  const bool marks_only = parsed.options.orphan_dependents && !*parsed.options.orphan_dependents;
  tracing::Event(request->ctx.Span(), "About to delete object from database");
  ASSIGN_OR_CO_RETURN(const Deleted deleted, co_await DeleteOne(request, std::string(request->ObjectNamespace()),
                                                                request->Name(), parsed.options, parsed.document));
  tracing::Event(request->ctx.Span(), "Object deleted from database");
  const int code = !deleted.gone && marks_only ? 202 : 200;
  const bool whole = request->Resource().returns_deleted_object || (!deleted.gone && !deleted.pending);
  if (!whole) co_return StatusResponse(*request, code, Success(*request, deleted.object.Uid()));
  if (deleted.entry) co_return ObjectResponse(*request, code, deleted.entry);
  co_return ObjectResponse(*request, code, deleted.object);
}

}  // namespace apimesh::endpoint
