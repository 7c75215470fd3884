#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/testing/temp_path.h"
#include "services/launcher/doctor/machine_checks.h"
#include "services/launcher/doctor/mesh_checks.h"
#include "services/launcher/pki/certificate.h"
#include "services/launcher/pki/certificate_folder.h"

namespace apimesh::launcher {
namespace {

using std::chrono::microseconds;
using Level = Finding::Level;

TEST(Doctor, JudgesTheDiskByItsMedian) {
  EXPECT_EQ(JudgeDisk({microseconds(900), microseconds(50'000), microseconds(800)}).level, Level::kGood);
  EXPECT_EQ(JudgeDisk({microseconds(12'000), microseconds(50'000), microseconds(800)}).level, Level::kWarning);
  EXPECT_EQ(JudgeDisk({}).level, Level::kProblem);
}

TEST(Doctor, WarnsOfFewFiles) {
  EXPECT_EQ(JudgeFileLimit(1024).level, Level::kWarning);
  EXPECT_EQ(JudgeFileLimit(1'048'576).level, Level::kGood);
}

TEST(Doctor, NamesProcessesThatAreDownOrRestarted) {
  RunFolder::State state;
  state.processes = {{"store", 7, 0, 0, ""}, {"core-api", 0, 3, 0, ""}, {"aggregator", 9, 2, 0, ""}};
  const std::vector<Finding> findings = CheckProcesses(state);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].what, "core-api is down");
  EXPECT_EQ(findings[1].what, "aggregator was restarted 2 times");
  state.processes.resize(1);
  EXPECT_EQ(CheckProcesses(state).front().level, Level::kGood);
}

TEST(Doctor, NamesCertificatesThatExpireSoon) {
  const RunFolder folder(testing::TempPath("doctor"));
  std::filesystem::remove_all(folder.Root());
  EXPECT_EQ(CheckCertificates(folder).front().level, Level::kGood);  // there are none yet
  std::filesystem::create_directories(folder.Pki());
  const auto write = [&](const std::string& name, int days) {
    const CertifiedKey pair = NewAuthority("x", std::chrono::hours(24 * days));
    WriteFile(folder.Pki() + "/" + name, pair.certificate_pem, false);
  };
  write("good.crt", 365);
  ASSERT_EQ(CheckCertificates(folder).size(), 1u);
  EXPECT_EQ(CheckCertificates(folder).front().level, Level::kGood);
  write("soon.crt", 10);
  const std::vector<Finding> findings = CheckCertificates(folder);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().level, Level::kWarning);
  EXPECT_THAT(findings.front().what, ::testing::HasSubstr("soon.crt expires in "));
  WriteFile(folder.Pki() + "/soon.crt", "not a certificate", false);
  EXPECT_EQ(CheckCertificates(folder).front().level, Level::kProblem);
  std::filesystem::remove_all(folder.Root());
}

}  // namespace
}  // namespace apimesh::launcher
