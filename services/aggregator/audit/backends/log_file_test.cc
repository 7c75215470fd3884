#include "services/aggregator/audit/backends/log_file.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/gzip/test_gunzip.h"
#include "lib/testing/manual_clock.h"

namespace apimesh::aggregator {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class LogFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("log_file_test_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    options_.path = (folder_ / "audit.log").string();
    options_.max_size_megabytes = 1;
    options_.max_backups = 0;
    options_.max_age_days = 0;
    options_.compress = false;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  static std::string Read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Writes three files of this many bytes.
  void WriteThreeFiles() {
    LogFile file(options_, clock_);
    for (const char c : {'a', 'b', 'c'}) {
      EXPECT_EQ(file.Write({std::string(700'000, c), "\n"}), "");
      clock_.Advance(std::chrono::hours(24));
    }
  }

  fs::path folder_;
  AuditLogOptions options_{};
  testing::ManualClock clock_;
};

TEST_F(LogFileTest, AppendsAndIsPrivate) {
  for (const char* line : {"one", "two"}) {
    LogFile file(options_, clock_);
    EXPECT_EQ(file.Write({line, "\n"}), "");
  }
  EXPECT_EQ(Read(options_.path), "one\ntwo\n");
  EXPECT_EQ(fs::status(options_.path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(LogFileTest, RotatedFilesHaveTheTimeInTheirNames) {
  WriteThreeFiles();
  const std::vector<std::string> names = Names();
  ASSERT_THAT(names, SizeIs(3));
  EXPECT_THAT(names[0],
              ::testing::MatchesRegex(R"(audit-[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}\.[0-9]{3}\.log)"));
  EXPECT_EQ(names[2], "audit.log");
  EXPECT_EQ(Read(folder_ / names[0])[0], 'a');
  EXPECT_EQ(Read(folder_ / names[2])[0], 'c');
}

TEST_F(LogFileTest, DeletesByNumber) {
  options_.max_backups = 1;
  WriteThreeFiles();
  const std::vector<std::string> names = Names();
  ASSERT_THAT(names, SizeIs(2));
  EXPECT_EQ(Read(folder_ / names[0])[0], 'b');
}

TEST_F(LogFileTest, DeletesByTheAgeInTheName) {
  options_.max_age_days = 1;
  WriteThreeFiles();
  fs::create_directories(folder_);
  std::ofstream(folder_ / "audit-2001-01-01T00-00-00.000.log") << "old";
  std::ofstream(folder_ / "audit-other.log") << "kept";
  WriteThreeFiles();
  EXPECT_FALSE(fs::exists(folder_ / "audit-2001-01-01T00-00-00.000.log"));
  EXPECT_TRUE(fs::exists(folder_ / "audit-other.log"));
}

TEST_F(LogFileTest, Compresses) {
  options_.compress = true;
  WriteThreeFiles();
  const std::vector<std::string> names = Names();
  ASSERT_THAT(names, SizeIs(3));
  EXPECT_TRUE(names[0].ends_with(".log.gz")) << names[0];
  EXPECT_EQ(gzip::Gunzip(Read(folder_ / names[0])), std::string(700'000, 'a') + "\n");
  EXPECT_LT(fs::file_size(folder_ / names[0]), 10'000);
}

TEST_F(LogFileTest, WithoutALimitNothingIsRotated) {
  options_.max_size_megabytes = 0;
  WriteThreeFiles();
  EXPECT_THAT(Names(), ElementsAre("audit.log"));
}

TEST_F(LogFileTest, AnEventThatIsLargerThanAFileIsAnError) {
  LogFile file(options_, clock_);
  EXPECT_EQ(file.Write({std::string(1 << 20, 'x'), "\n"}), "write length 1048577 exceeds maximum file size 1048576");
  EXPECT_EQ(file.Write({"ok\n"}), "");
}

TEST_F(LogFileTest, AFullDiskIsAnErrorOfEachEvent) {
  options_.path = "/dev/full";
  LogFile file(options_, clock_);
  EXPECT_EQ(file.Write({"one\n"}), "write /dev/full: no space left on device");
  EXPECT_EQ(file.Write({"two\n"}), "write /dev/full: no space left on device");
}

TEST_F(LogFileTest, ManyPiecesAreOneLine) {
  const std::string piece = "x";
  std::vector<std::string_view> line(5000, piece);
  line.push_back("\n");
  LogFile file(options_, clock_);
  EXPECT_EQ(file.Write(line), "");
  EXPECT_THAT(Read(options_.path), SizeIs(5001));
}

TEST_F(LogFileTest, AFolderCannotBeALog) {
  fs::create_directories(folder_ / "audit.log");
  try {
    LogFile file(options_, clock_);
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), HasSubstr("ensureLogFile: open "));
  }
}

}  // namespace
}  // namespace apimesh::aggregator
