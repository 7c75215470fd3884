#include "lib/admission/pod_resources.h"

#include "lib/admission/fields.h"
#include "lib/meta/names.h"

namespace apimesh::admission {

Amounts ReadAmounts(const json::object& list) {
  Amounts amounts;
  for (const auto& member : list) {
    if (!member.value().is_string()) continue;
    if (auto amount = meta::Quantity::Parse(std::string_view(member.value().get_string())))
      amounts.emplace(member.key(), *std::move(amount));
  }
  return amounts;
}

void AddAmounts(Amounts& sum, const Amounts& more) {
  for (const auto& [name, amount] : more) {
    const auto [found, added] = sum.try_emplace(name, amount);
    if (!added) found->second.Add(amount);
  }
}

void TakeLarger(Amounts& to, const Amounts& from) {
  for (const auto& [name, amount] : from) {
    const auto [found, added] = to.try_emplace(name, amount);
    if (!added && amount > found->second) found->second = amount;
  }
}

Amounts SpecAmounts(const json::object& container, std::string_view kind) {
  return ReadAmounts(ObjectAt(ObjectAt(container, "resources"), kind));
}

bool IsSidecar(const json::object& init_container) {
  return meta::FindString(init_container, "restartPolicy") == "Always";
}

Amounts PodTotal(const json::object& spec, std::string_view kind, bool (*pod_level)(std::string_view name),
                 const ContainerAmounts& of_container) {
  Amounts total, sidecars, largest_init;
  ForEach(spec, "containers", [&](const json::object& container) { AddAmounts(total, of_container(container, kind)); });
  ForEach(spec, "initContainers", [&](const json::object& container) {
    Amounts amounts = of_container(container, kind);
    if (IsSidecar(container)) {
      AddAmounts(total, amounts);
      AddAmounts(sidecars, amounts);
      amounts = sidecars;
    } else {
      AddAmounts(amounts, sidecars);
    }
    TakeLarger(largest_init, amounts);
  });
  TakeLarger(total, largest_init);
  for (auto& [name, amount] : SpecAmounts(spec, kind)) {
    if (pod_level(name)) total[name] = amount;
  }
  return total;
}

bool IsBestEffort(const meta::Object& pod) {
  const std::string_view known = meta::FindString(pod.Root(), "status", "qosClass");
  if (!known.empty()) return known == "BestEffort";
  for (const char* kind : {"requests", "limits"}) {
    for (const auto& [name, amount] : PodTotal(SpecOf(pod), kind, &IsCpuOrMemory)) {
      if (IsCpuOrMemory(name) && amount.Sign() > 0) return false;
    }
  }
  return true;
}

bool IsExtendedResource(std::string_view name) {
  const std::string for_quota = "requests." + std::string(name);
  return name.find('/') != std::string_view::npos && name.find("kubernetes.io/") == std::string_view::npos &&
         !name.starts_with("requests.") && meta::CheckQualifiedName(for_quota).empty();
}

}  // namespace apimesh::admission
