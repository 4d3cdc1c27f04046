#include "base/config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace unisono {
namespace {

class Setting : public testing::Test {
 protected:
  void TearDown() override { unsetenv("UNISONO_LOG"); }
  static std::string of(const std::string& value) {
    setenv("UNISONO_LOG", value.c_str(), 1);
    return setting("UNISONO_LOG");
  }
};

TEST_F(Setting, NamesTheVariableAndItsValue) { EXPECT_EQ(of("loudly"), "UNISONO_LOG=loudly"); }

TEST_F(Setting, LeavesRoomForWhatIsWrongWithALongValue) {
  const std::string line = of("begin" + std::string(1 << 20, 'x') + "end");
  EXPECT_LT(line.size(), 200U);
  EXPECT_EQ(line.find("UNISONO_LOG=begin"), 0U);
  EXPECT_EQ(line.rfind("end"), line.size() - 3);
}

TEST_F(Setting, HasNoControlCharacters) {
  EXPECT_EQ(of("a\033[2J\n\xff"), R"(UNISONO_LOG=a\x1b[2J\x0a\xff)");
}

}  // namespace
}  // namespace unisono
