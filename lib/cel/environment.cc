#include "lib/cel/environment.h"

#include <map>
#include <mutex>

#include "lib/cel/library/library.h"

namespace apimesh::cel {
namespace {

// Each library with the version that introduced it.
Declarations Build(int minor) {
  Declarations out;
  out.macros = {.optionals = minor >= 28, .two_variables = false, .lists = false, .bindings = false};
  out.cross_type_comparisons = minor >= 28;
  out.validate_literals = minor >= 29;
  out.validate_formats = minor >= 29;
  AddOperators(out);
  AddConversions(out);
  AddStandardStrings(out);
  AddTime(out);
  AddUrls(out);
  AddRegex(out);
  AddKubernetesLists(out);
  if (minor >= 27) {
    AddAuthorizer(out);
    AddAuthorizerSelectors(out);
  }
  if (minor >= 28) AddOptionals(out);
  if (minor >= 28) AddQuantity(out);
  AddStrings(out, minor >= 29 ? 2 : 0);
  if (minor >= 29) AddSets(out);
  if (minor >= 30) AddIp(out);
  if (minor >= 30) AddCidr(out);
  if (minor >= 31) AddFormat(out);
  if (minor >= 32) AddComprehensions(out);
  if (minor >= 33) AddSemver(out);
  if (minor >= 34) AddLists(out);
  return out;
}

enum class Extra { kNone, kPatches, kBindings };

// Environments are created on first use and never destroyed.
const Declarations& Find(int minor, Extra extra) {
  static std::mutex mutex;
  static auto& environments = *new std::map<std::pair<int, Extra>, Declarations>();
  const std::lock_guard lock(mutex);
  const auto found = environments.find({minor, extra});
  if (found != environments.end()) return found->second;
  Declarations built = Build(minor);
  if (extra == Extra::kPatches) AddJsonPatch(built);
  built.macros.bindings = extra == Extra::kBindings;
  return environments.emplace(std::pair(minor, extra), std::move(built)).first->second;
}

}  // namespace

const Declarations& BaseEnvironment(int minor) { return Find(minor, Extra::kNone); }
const Declarations& PatchEnvironment(int minor) { return Find(minor, Extra::kPatches); }
const Declarations& BindingEnvironment(int minor) { return Find(minor, Extra::kBindings); }

}  // namespace apimesh::cel
