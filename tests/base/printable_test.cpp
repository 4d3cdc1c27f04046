// Text of others in lines for the user.
#include "base/printable.h"

#include <gtest/gtest.h>

namespace unisono {
namespace {

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("plain, \xc3\xa9, \xe2\x82\xac, \xf0\x9f\x8e\xbc", 100),
            "plain, \xc3\xa9, \xe2\x82\xac, \xf0\x9f\x8e\xbc");
  EXPECT_EQ(printable("\x1b[31m\r\n\t\x7f", 100), R"(\x1b[31m\x0d\x0a\x09\x7f)");
  EXPECT_EQ(printable(std::string_view("\0", 1), 100), R"(\x00)");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m",
                      100),
            R"(\u009b31m)");
  EXPECT_EQ(printable("\xe2\x80\xae", 100), R"(\u202e)") << "turns the direction of writing";
}

TEST(Printable, EscapesWhatIsNoUtf8) {
  for (const char* bytes : {"\xff", "\x80", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    for (const char c : printable(bytes, 100)) EXPECT_GT(c, ' ') << bytes;
  EXPECT_EQ(printable("\xc3(", 100), R"(\xc3()");
}

TEST(Printable, LongTextLosesItsMiddle) {
  EXPECT_EQ(printable("abcdefghijklmnopqrstuvwxyz", 15), "abcdefg ... xyz");
  for (const std::size_t length : {99, 100, 101, 400, 401, 100'000}) {
    const std::string text = printable(std::string(length, 'x') + "end", 100);
    EXPECT_LE(text.size(), 100U);
    EXPECT_TRUE(text.ends_with("end"));
  }
  std::string euros;
  for (int i = 0; i < 1000; ++i) euros += "\xe2\x82\xac";
  EXPECT_EQ(printable(euros, 100).find('\\'), std::string::npos) << "cut within a character";
}

TEST(Printable, ALineAboutAFileIsShort) {
  EXPECT_EQ(line_about("a/b", "it is no JSON", "all goes on"), "a/b: it is no JSON; all goes on");
  EXPECT_EQ(line_about("", "it is no JSON"), "it is no JSON");
  const std::string line =
      line_about(std::string(5000, '/'), std::string(5000, '\n'), "all goes on");
  EXPECT_LE(line.size() + std::string("unisono: ").size(), kLongestLine);
  EXPECT_TRUE(line.ends_with("; all goes on"));
}

}  // namespace
}  // namespace unisono
