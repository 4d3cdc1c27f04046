#include "trace/modules.h"

#include <gtest/gtest.h>

namespace unisono::trace {
namespace {

TEST(Modules, AreTheExecutableMappingsOfFiles) {
  const Modules found = executable_mappings(
      "55e0a000-55e0b000 r--p 00000000 fe:01 1234                      /usr/bin/app\n"
      "55e0b000-55e0d000 r-xp 00001000 fe:01 1234                      /usr/bin/app\n"
      "55e0d000-55e0e000 rw-p 00003000 fe:01 1234                      /usr/bin/app\n"
      "7f000000-7f001000 rwxp 00000000 00:00 0 \n"
      "7f100000-7f108000 r-xp 00002000 fe:01 99                        /opt/a b/lib.so (deleted)\n"
      "7fff0000-7fff1000 r-xp 00000000 00:00 0                         [vdso]\n");
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0], (Module{"/usr/bin/app", 0x55e0b000, 0x55e0d000, 0x1000}));
  EXPECT_EQ(found[1].path, "/opt/a b/lib.so (deleted)");
  EXPECT_TRUE(covers(found, 0x55e0b000));
  EXPECT_TRUE(covers(found, 0x7f107fff));
  EXPECT_FALSE(covers(found, 0x55e0d000));
  EXPECT_FALSE(covers({}, 0));
}

TEST(Modules, KnowThisProgramsOwnCode) {
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  EXPECT_TRUE(covers(executable_mappings(), here));
}

}  // namespace
}  // namespace unisono::trace
