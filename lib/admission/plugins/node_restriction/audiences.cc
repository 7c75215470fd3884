#include "lib/admission/plugins/node_restriction/audiences.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/admission/plugins/node_restriction/csi_drivers.h"
#include "lib/admission/plugins/node_restriction/fields.h"

namespace apimesh::admission::node_restriction {
namespace {

using meta::FindString;
using meta::json::object;

bool ProjectsTokenFor(const object& volume, std::string_view audience) {
  const meta::json::value* projected = meta::FindField(volume, "projected");
  if (!projected || !projected->is_object()) return false;
  return AnyOf(ListAt(projected->get_object(), "sources"), [audience](const object& source) {
    return Has(source, "serviceAccountToken") && FindString(source, "serviceAccountToken", "audience") == audience;
  });
}

/// Returns the name of the PersistentVolumeClaim of a volume of the pod, or "".
std::string ClaimOf(const meta::Object& pod, const object& volume) {
  const meta::json::value* ephemeral = meta::FindField(volume, "ephemeral");
  if (ephemeral && ephemeral->is_object() && Has(ephemeral->get_object(), "volumeClaimTemplate")) {
    return fmt::format("{}-{}", pod.Name(), FindString(volume, "name"));
  }
  return std::string(FindString(volume, "persistentVolumeClaim", "claimName"));
}

Task<meta::Result<std::string>> DriverOfClaim(meta::RequestContext ctx, const ClusterReader& reader, std::string ns,
                                              std::string name) {
  ASSIGN_OR_CO_RETURN(const meta::Object claim, co_await reader.Get(ctx, kClaims, std::move(ns), std::move(name)));
  std::string volume_name(FindString(claim.Root(), "spec", "volumeName"));
  ASSIGN_OR_CO_RETURN(const meta::Object volume, co_await reader.Get(ctx, kVolumes, "", std::move(volume_name)));
  co_return DriverOfPersistentVolume(volume);
}

Task<meta::Result<bool>> DriverAsksFor(meta::RequestContext ctx, const ClusterReader& reader, std::string name,
                                       std::string audience) {
  ASSIGN_OR_CO_RETURN(const meta::Object driver, co_await reader.Get(ctx, kCsiDrivers, "", std::move(name)));
  const meta::json::value* spec = meta::FindField(driver.Root(), "spec");
  if (!spec || !spec->is_object()) co_return false;
  co_return AnyOf(ListAt(spec->get_object(), "tokenRequests"),
                  [&audience](const object& request) { return FindString(request, "audience") == audience; });
}

Task<meta::Result<bool>> VolumeAsksFor(meta::RequestContext ctx, const ClusterReader& reader, const meta::Object& pod,
                                       const object& volume, std::string audience) {
  if (ProjectsTokenFor(volume, audience)) co_return true;
  std::string claim = ClaimOf(pod, volume);
  meta::Result<std::string> driver = std::string();
  if (!claim.empty()) {
    driver = co_await DriverOfClaim(ctx, reader, std::string(pod.Namespace()), std::move(claim));
  } else {
    driver = DriverOfInlineVolume(volume);
  }
  if (!driver) co_return driver.error();
  if (driver->empty()) co_return false;
  co_return co_await DriverAsksFor(ctx, reader, std::move(*driver), std::move(audience));
}

/// Combines several errors into one, in the format of kube-apiserver.
meta::ApiError Together(const std::vector<std::string>& messages) {
  if (messages.size() == 1) return PlainError(messages[0]);
  return PlainError(fmt::format("[{}]", fmt::join(messages, ", ")));
}

}  // namespace

Task<meta::Result<bool>> PodAsksForAudience(meta::RequestContext ctx, const ClusterReader& reader,
                                            const meta::Object& pod, std::string audience) {
  std::vector<std::string> problems;
  const meta::json::value* spec = meta::FindField(pod.Root(), "spec");
  if (!spec || !spec->is_object()) co_return false;
  for (const meta::json::value& volume : ListAt(spec->get_object(), "volumes")) {
    if (!volume.is_object()) continue;
    const meta::Result<bool> asks = co_await VolumeAsksFor(ctx, reader, pod, volume.get_object(), audience);
    if (asks && *asks) co_return true;
    if (asks) continue;
    const std::string problem = asks.error().Message();
    if (std::find(problems.begin(), problems.end(), problem) == problems.end()) problems.push_back(problem);
  }
  if (problems.empty()) co_return false;
  co_return Together(problems);
}

}  // namespace apimesh::admission::node_restriction
