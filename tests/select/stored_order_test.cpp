#include "select/stored_order.h"

#include <gtest/gtest.h>

#include <string>

#include "select/spec.h"

namespace unisono {

namespace {

CountMatrix six() {
  return *read_matrix(R"({"ranks": 6, "messages": [[0, 1, 1000000], [1, 3, 1000000], [0, 2, 10000],
                          [2, 3, 100], [1, 5, 100], [2, 1, 100]]})");
}

TEST(StoredOrder, IsReadAsItWasWritten) {
  for (const MessageRule rule : {MessageRule::greedy, MessageRule::all_to_all_based,
                                 MessageRule::edge_colouring, MessageRule::token_list})
    for (const Count threshold : {0, 200}) {
      const StoredOrder order = make_order(six(), rule, threshold);
      const auto read = read_order(write_order(order));
      ASSERT_TRUE(read) << read.error() << "\n" << write_order(order);
      EXPECT_TRUE(read->list == order.list);
      EXPECT_TRUE(read->matrix == order.matrix);
      EXPECT_EQ(read->rule, rule);
      EXPECT_EQ(read->threshold, threshold);
    }
  const CountMatrix none(std::vector<Count>(9), 3);
  const auto empty = read_order(write_order(make_order(none, MessageRule::token_list, 0)));
  ASSERT_TRUE(empty) << empty.error();
  EXPECT_TRUE(empty->list.messages.empty());
}

TEST(StoredOrder, SaysWhatIsWrong) {
  const std::string good = write_order(make_order(six(), MessageRule::greedy, 0));
  const auto error = [&](const std::string& what, const std::string& with) {
    std::string text = good;
    const std::size_t at = text.find(what);
    EXPECT_NE(at, text.npos) << what << " in\n" << good;
    text.replace(at, what.size(), with);
    const auto read = read_order(text);
    return read ? "nothing" : read.error();
  };
  EXPECT_EQ(error("\"version\": 1", "\"version\": 2"), "version is 2, not within 1 to 1");
  EXPECT_EQ(error("unisono-order", "unisono-profile"), "no order of messages");
  EXPECT_EQ(error("\"ranks\": 6", "\"ranks\": 5"), "phase 1: to is 5, not within 0 to 4");
  EXPECT_EQ(error("greedy", "lazy"), "no rule 'lazy'");
  EXPECT_EQ(error("[2,1,100]", "[0,1,100]"), "message from 0 to 1 is there twice");
  EXPECT_EQ(error("[1,3,1000000]", "[0,3,1000000]"), "phase 0: rank 0 sends twice");
  EXPECT_EQ(error("[1,3,1000000]", "[2,1,1000000]"), "phase 0: rank 1 receives twice");
  EXPECT_EQ(error("[1,3,1000000]", "[3,3,1000000]"), "phase 0: rank 3 sends to itself");
  EXPECT_EQ(error("[1,3,1000000]", "[1,3,0]").substr(0, 17), "phase 0: bytes is");
  EXPECT_EQ(error("[1,3,1000000]", "[1,3]"), "phase 0: a message is [from, to, bytes], not [1,3]");
  EXPECT_EQ(error("\"phases\": 3", "\"phases\": 4"), "order has 3 lists of messages for 4 phases");
  EXPECT_EQ(error("\"order\"", "\"other\""), "'order' is missing");
  for (std::size_t length = 0; length < good.size() - 2; length += 7)
    EXPECT_FALSE(read_order(good.substr(0, length))) << "cut after " << length;
}

TEST(StoredOrder, MatricesAreTextOrJson) {
  const CountMatrix expected(std::vector<Count>{0, 5, 7, 0}, 2);
  for (const char* text :
       {"0,5\n7,0\n", "0 5\n\n7\t0", "[[0, 5], [7, 0]]",
        R"({"ranks": 2, "messages": [[1, 0, 7], [0, 1, 5]]})", " 0, 5\r\n7, 0\r\n"}) {
    const auto read = read_matrix(text);
    ASSERT_TRUE(read) << text << ": " << read.error();
    EXPECT_TRUE(*read == expected) << text;
  }
  const auto error = [](const char* text) {
    const auto read = read_matrix(text);
    return read ? "nothing" : read.error();
  };
  EXPECT_EQ(error(""), "no counts");
  EXPECT_EQ(error("0,5\n7"), "row 1 has 1 counts, and there are 2 rows");
  EXPECT_EQ(error("0,5\n7,-1"), "line 2: '-1' is no count of bytes");
  EXPECT_EQ(error("0,5x\n7,1"), "line 1: 'x' is no count of bytes");
  EXPECT_EQ(error("[[0, 1], [2]]"), "row 1 does not have 2 counts");
  EXPECT_EQ(error("[[0, 1"), "it is no JSON at line 1, column 7");
  EXPECT_EQ(error(std::string(100000, '[').c_str()), "it is nested more than 64 deep");
  EXPECT_EQ(error(R"({"ranks": 2, "messages": [[0, 1, 1e400]]})"),
            "it has a number that is too large at line 1, column 38");
  EXPECT_EQ(error(R"({"ranks": 2, "messages": [[0, 1, 9223372036854775808]]})"),
            "bytes is 9223372036854775808, not within 1 to 1125899906842624");
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(read_order(deep).error(), "it is nested more than 64 deep");
  EXPECT_EQ(read_order(R"({"format": )" + deep + "}").error(), "it is nested more than 64 deep");
  EXPECT_EQ(error(R"({"ranks": 2, "messages": [[0, 2, 7]]})"), "to is 2, not within 0 to 1");
}

TEST(StoredOrder, LacksMessages) {
  const MessageList list = make_order(six(), MessageRule::greedy, 0).list;
  EXPECT_FALSE(lacks(list, six()));
  EXPECT_FALSE(lacks(list, CountMatrix(std::vector<Count>(36), 6)));
  EXPECT_EQ(lacks(list, CountMatrix(std::vector<Count>(36, 1), 6)),
            "it does not hold the message from 0 to 3");
  EXPECT_EQ(lacks(list, CountMatrix(std::vector<Count>(4), 2)),
            "it is for 6 ranks, the counts are of 2");
}

TEST(StoredOrder, IsNamedInASpec) {
  const auto spec = parse_spec(Collective::alltoallv, "stored:file=a/b.json,window=3");
  ASSERT_TRUE(spec) << spec.error();
  EXPECT_EQ(*spec->params.file, "a/b.json");
  EXPECT_EQ(text(*spec), "stored:segment=16K,window=3,file=a/b.json");
  EXPECT_TRUE(parse_spec(Collective::alltoallv, text(*spec))->params == spec->params);
  EXPECT_FALSE(parse_spec(Collective::alltoallv, "stored:file="));
  EXPECT_FALSE(parse_spec(Collective::alltoallv, "token_list:file=a"));
  EXPECT_EQ(loaded_order(spec->params.file), nullptr);
}

}  // namespace
}  // namespace unisono
