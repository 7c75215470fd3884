#include "services/aggregator/filters/panic_recovery/panic_recovery.h"

#include <stdexcept>

#include "services/aggregator/filters/testing_filter.h"

namespace apimesh::aggregator {
namespace {

using PanicRecoveryTest = FilterTest;

TEST_F(PanicRecoveryTest, LeavesAResponseAlone) {
  Run(MakePanicRecovery(inputs));
  EXPECT_EQ(response.code, 200);
  EXPECT_EQ(response.text, "ok");
  EXPECT_FALSE(response.aborted);
}

TEST_F(PanicRecoveryTest, AnExceptionBeforeTheResponseIsA500WithTheAuditId) {
  Run(MakePanicRecovery(inputs), [](Exchange&) -> Task<> {
    throw std::runtime_error("secret detail");
    co_return;
  });
  EXPECT_EQ(response.code, 500);
  EXPECT_THAT(response.text, ::testing::HasSubstr("This request caused apiserver to panic. Look in the logs for "
                                                  "details. id-1"));
  EXPECT_THAT(response.text, ::testing::Not(::testing::HasSubstr("secret detail")));
  EXPECT_FALSE(response.aborted);
}

TEST_F(PanicRecoveryTest, AnExceptionAfterTheHeadAbortsTheConnection) {
  Run(MakePanicRecovery(inputs), [](Exchange& reached) -> Task<> {
    co_await reached.reply.Start(200, http::Headers(), false);
    throw std::runtime_error("too late");
  });
  EXPECT_EQ(response.code, 200);
  EXPECT_EQ(response.text, "");
  EXPECT_TRUE(response.aborted);
}

TEST_F(PanicRecoveryTest, ARequestThatNoFilterAnsweredIsA500) {
  Run(MakePanicRecovery(inputs), [](Exchange&) -> Task<> { co_return; });
  EXPECT_EQ(response.code, 500);
}

}  // namespace
}  // namespace apimesh::aggregator
