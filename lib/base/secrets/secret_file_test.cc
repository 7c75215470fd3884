#include "lib/base/secrets/secret_file.h"

#include <cerrno>
#include <fstream>
#include <thread>

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "lib/base/file.h"
#include "lib/base/secrets/wiping_memory.h"

namespace apimesh {
namespace {

class Files : public ::testing::Test {
 protected:
  Files() : folder_(std::filesystem::path(::testing::TempDir()) / ("files-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Files() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& text) const {
    const std::string path = folder_ / "file";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  const std::filesystem::path folder_;
};

TEST_F(Files, AreReadCompletely) {
  for (const std::size_t size : {0, 1, 15, 511, 512, 513, 100'000}) {
    const std::string text(size, 'k'), path = Write(text);
    EXPECT_EQ(ReadFile(path), text);
    EXPECT_EQ(ReadSecretFile(path)->View(), text);
  }
  EXPECT_FALSE(ReadFile(folder_ / "missing"));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(ReadSecretFile(folder_));
  EXPECT_EQ(errno, EISDIR);
}

TEST_F(Files, ThatReportNoSizeAreReadCompletely) {
  const std::string pipe = folder_ / "pipe", text(60'000, 'k');
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << text; });
  const std::optional<SecretBytes> read = ReadSecretFile(pipe);
  writer.join();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->View(), text);
}

// A short secret in the internal buffer of a std::string would be copied by a move, and the copy would stay.
TEST_F(Files, WithShortSecretsAreNotCopiedByMoves) {
  std::optional<SecretBytes> read = ReadSecretFile(Write("short"));
  const char* const place = read->View().data();
  const SecretBytes moved(std::move(*read));
  EXPECT_EQ(moved.View().data(), place);
}

/// Keeps a copy of all memory that is freed.
class Freed final : public boost::json::memory_resource {
 public:
  std::string bytes;

 private:
  void* do_allocate(std::size_t size, std::size_t align) override {
    return ::operator new(size, std::align_val_t(align));
  }
  void do_deallocate(void* memory, std::size_t size, std::size_t align) override {
    bytes.append(static_cast<const char*>(memory), size);
    ::operator delete(memory, std::align_val_t(align));
  }
  bool do_is_equal(const boost::json::memory_resource& other) const noexcept override { return this == &other; }
};

/// Parses a document with a secret and destroys it.
void Use(const boost::json::storage_ptr& memory) {
  const std::string long_secret(100, 's');
  boost::json::value document =
      boost::json::parse(R"({"keys":[{"secret":")" + long_secret + R"("},{"secret":"ssss"}]})", memory);
  document.at("keys").as_array().push_back(boost::json::string("sssssss"));  // the list grows into other memory
}

TEST(WipingMemory, OverwritesWhatIsFreed) {
  Freed plain, wiped;
  Use(&plain);
  WipingMemory memory{boost::json::storage_ptr(&wiped)};
  Use(&memory);
  EXPECT_NE(plain.bytes.find("ssss"), std::string::npos);
  EXPECT_EQ(wiped.bytes.size(), plain.bytes.size());
  EXPECT_EQ(wiped.bytes.find("ssss"), std::string::npos);
}

}  // namespace
}  // namespace apimesh
