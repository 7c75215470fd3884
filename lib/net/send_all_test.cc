#include "lib/net/send_all.h"

#include <cerrno>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace apimesh::net {
namespace {

struct Pair {
  Pair() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    ours = ends[0];
    theirs = ends[1];
  }
  ~Pair() {
    ::close(ours);
    if (theirs >= 0) ::close(theirs);
  }
  Pair(const Pair&) = delete;
  void Fill() const {
    const std::string block(4096, 'f');
    while (::send(ours, block.data(), block.size(), MSG_NOSIGNAL) > 0) {}
  }
  std::string Received() const {
    std::string all(1 << 20, '\0');
    const ssize_t size = ::recv(theirs, all.data(), all.size(), 0);
    all.resize(std::max<ssize_t>(size, 0));
    return all;
  }
  int ours, theirs;
};

class SendAllBy : public ::testing::TestWithParam<void (*)(std::span<SocketSend>)> {};

TEST_P(SendAllBy, EachSocketGetsItsBytesAndTellsWhatBecameOfThem) {
  constexpr std::size_t kSockets = 300;  // more than the entries of a ring
  constexpr std::size_t kFull = 7, kGone = 130, kNarrow = 299;
  std::vector<Pair> pairs(kSockets);
  pairs[kFull].Fill();
  ::close(std::exchange(pairs[kGone].theirs, -1));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < kSockets; ++i) texts.push_back("for " + std::to_string(i));
  texts[kNarrow] = std::string(4 << 20, 'n');
  std::vector<SocketSend> sends;
  for (std::size_t i = 0; i < kSockets; ++i) sends.push_back({pairs[i].ours, texts[i]});

  GetParam()(sends);

  for (std::size_t i = 0; i < kSockets; ++i) {
    SCOPED_TRACE(i);
    if (i == kFull) {
      EXPECT_EQ(sends[i].result, -EAGAIN);
    } else if (i == kGone) {
      EXPECT_EQ(sends[i].result, -EPIPE);
    } else if (i == kNarrow) {
      EXPECT_GT(sends[i].result, 0);
      EXPECT_LT(sends[i].result, 4 << 20);
    } else {
      EXPECT_EQ(sends[i].result, static_cast<long>(texts[i].size()));
      EXPECT_EQ(pairs[i].Received(), texts[i]);
    }
  }
}

TEST_P(SendAllBy, TakesFewAndNone) {
  GetParam()({});
  const Pair pair;
  SocketSend send{pair.ours, "alone"};
  GetParam()(std::span(&send, 1));
  EXPECT_EQ(send.result, 5);
  EXPECT_EQ(pair.Received(), "alone");
}

INSTANTIATE_TEST_SUITE_P(Ways, SendAllBy, ::testing::Values(&SendAll, &SendOneByOne));

}  // namespace
}  // namespace apimesh::net
