#include "services/launcher/doctor/doctor.h"

#include <algorithm>
#include <iterator>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "services/launcher/doctor/machine_checks.h"
#include "services/launcher/doctor/mesh_checks.h"

namespace apimesh::launcher {
namespace {

namespace json = boost::json;

const char* Mark(Finding::Level level) {
  switch (level) {
    case Finding::Level::kGood: return "ok";
    case Finding::Level::kWarning: return "warning";
    case Finding::Level::kProblem: return "problem";
  }
  return "";
}

std::vector<Finding> CheckAll(const RunFolder& folder, int port, const Clock& clock) {
  const std::optional<RunFolder::State> state = folder.Read();
  // Before the first `up` the folder does not exist; the disk is that of the folder in which it will be.
  std::filesystem::path existing = folder.Root();
  while (!std::filesystem::exists(existing) && existing.has_parent_path()) existing = existing.parent_path();

  std::vector<Finding> all;
  const auto add = [&](std::vector<Finding> findings) {
    std::move(findings.begin(), findings.end(), std::back_inserter(all));
  };
  add(CheckProcesses(state));
  add({CheckApi(folder, state, port)});
  add(CheckCertificates(folder));
  add(CheckWebhooks(folder, state));
  add({CheckClock(), CheckDisk(existing.string(), clock), CheckDiskSpace(existing.string()), CheckMemory(),
       CheckFileLimit(), CheckKernel()});
  add(CheckPrograms());
  return all;
}

void PrintTable(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    fmt::print("{:<8} {:<13} {}\n", Mark(finding.level), finding.subject, finding.what);
    if (!finding.advice.empty()) fmt::print("{:<22} {}\n", "", finding.advice);
  }
}

void PrintJson(const std::vector<Finding>& findings) {
  json::array list;
  for (const Finding& finding : findings) {
    list.push_back(json::object{{"level", Mark(finding.level)},
                                {"subject", finding.subject},
                                {"what", finding.what},
                                {"advice", finding.advice}});
  }
  fmt::print("{}\n", json::serialize(list));
}

}  // namespace

int Doctor(const std::string& folder, int port, bool as_json, const Clock& clock) {
  const std::vector<Finding> findings = CheckAll(RunFolder(folder), port, clock);
  if (as_json) {
    PrintJson(findings);
  } else {
    PrintTable(findings);
  }
  std::fflush(stdout);
  const bool problem = std::any_of(findings.begin(), findings.end(),
                                   [](const Finding& finding) { return finding.level == Finding::Level::kProblem; });
  return problem ? 1 : 0;
}

}  // namespace apimesh::launcher
