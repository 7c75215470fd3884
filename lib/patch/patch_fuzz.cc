// Fuzzes patches, which come from untrusted clients. The input is a document, a line break and a patch. The result must
// be a valid document, and the managedFields that we write must decode again.
#include <cstdint>
#include <cstdlib>

#include "lib/patch/apply/managed_fields.h"
#include "lib/patch/patch.h"
#include "lib/schema/builtin.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh;
  namespace json = meta::json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  if (line == std::string_view::npos || size > 16384) return 0;
  json::error_code error;
  const json::value document = json::parse(text.substr(0, line), error);
  if (error || !document.is_object()) return 0;
  const json::value patch = json::parse(text.substr(line + 1), error);
  if (error) return 0;
  static const schema::Node& node = *schema::Builtin().Find("io.k8s.api.core.v1.Pod");

  json::value by_json = document;
  (void)patch::ApplyJsonPatch(by_json, patch);
  json::value by_merge = document;
  patch::ApplyMergePatch(by_merge, patch);
  if (!patch.is_object()) return 0;
  json::object by_strategy = document.get_object();
  (void)patch::ApplyStrategicMergePatch(by_strategy, patch.get_object(), node);

  const patch::ManagerInfo manager{"fuzz", "v1", "", {}, {}};
  const meta::Object live(document.get_object());
  meta::Object updated(patch.get_object());
  (void)patch::UpdateManagedFields(&live, updated, node, manager, {"status"});
  (void)patch::UpdateManagedFields(nullptr, updated, node, manager, {});
  const auto applied = patch::Apply(live, meta::Object(patch.get_object()), node, manager, true, {"status"});
  if (!applied) return 0;
  if (!patch::Apply(*applied, meta::Object(patch.get_object()), node, manager, true, {"status"})) std::abort();
  return 0;
}
