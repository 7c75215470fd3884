#include "services/store/net/h2_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apimesh::store {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;

const std::string kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\0\0\0\x04\0\0\0\0\0"s;

/// The head of a call of /a.b/Put, on stream `id`.
std::string Call(char id) {
  const std::string head = "\x83\x86\x04\x08/a.b/Put\x0f\x10\x10"s + "application/grpc";
  return "\0\0"s + static_cast<char>(head.size()) + "\x01\x04\0\0\0"s + id + head;
}

/// Its client may send it to another server.
std::string Refused(char id) { return "\0\0\x04\x03\0\0\0\0"s + id + "\0\0\0\x07"s; }

class Ignore final : public CallHandler {
  void OnMessage(std::string_view) override {}
  void OnHalfClose() override {}
};

// What comes in after the decision to leave, and before the good-bye is written, would be run twice: it says that we never saw it.
TEST(H2SessionLeaving, RefusesWhatItsGoodByeDoesNotCover) {
  int called = 0;
  const Routes routes{.grpc = [&called](std::string_view, const CallPtr&) {
    ++called;
    return std::make_unique<Ignore>();
  }, .http = nullptr};
  H2Session session(routes, [] {});
  ASSERT_TRUE(session.Receive(kPreface + Call(1)));
  EXPECT_EQ(called, 1);
  session.GoAway();
  ASSERT_TRUE(session.Receive(Call(3)));
  EXPECT_EQ(called, 1);
  std::string out;
  ASSERT_TRUE(session.Fill(out));
  EXPECT_THAT(out, HasSubstr(Refused(3)));
  EXPECT_THAT(out, Not(HasSubstr(Refused(1))));
}

}  // namespace
}  // namespace apimesh::store
