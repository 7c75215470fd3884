#pragma once

#include "lib/admission/plugin.h"
#include "lib/endpoint/input/options.h"
#include "lib/endpoint/request.h"
#include "lib/patch/apply/managed_fields.h"

/// Functions that several kinds of writes use.
namespace apimesh::endpoint {

/// Returns the attributes of this request for admission. `object`, `old` and `options` must outlive the result.
admission::Attributes AttributesOf(const ResourceRequest& request, admission::Operation operation, meta::Object* object,
                                   const meta::Object* old, const meta::json::object* options, bool dry_run);

/// Removes duplicate owner references and sends the client a warning about them.
void DropDuplicateOwners(const ResourceRequest& request, meta::Object& object, bool after_admission);

/// Returns the entry of managedFields for a write of this request by the manager `name`.
patch::ManagerInfo ManagerOf(const ResourceRequest& request, std::string name);
/// Returns the fields that writes of this request cannot change.
const patch::ResetFields& ResetFieldsOf(const ResourceRequest& request);
/// Updates managedFields. If its fields cannot be compared, the object is written without managedFields, as in
/// kube-apiserver.
void TrackFields(const ResourceRequest& request, const WriteOptions& options, const meta::Object* live,
                 meta::Object& object);
/// Removes the times of managers that write through the scale subresource and sorts these managers first, as
/// kube-apiserver does.
void ForgetScaleTimes(meta::Object& object);

/// Returns 400 if the name or namespace of the object differs from the URL.
meta::Result<> CheckName(const ResourceRequest& request, const meta::Object& object);

/// Parses the stored object.
meta::Result<meta::Object> ParseEntry(const storage::Entry& entry);

}  // namespace apimesh::endpoint
