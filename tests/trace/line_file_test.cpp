#include "trace/line_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "schedule/collective.h"

namespace unisono::trace {
namespace {

using Json = nlohmann::json;

class LineFileTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = LineFile::create(path_);
    ASSERT_TRUE(made) << made.error();
    file_ = std::move(*made);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::vector<Json> lines() const {
    std::vector<Json> all;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) all.push_back(Json::parse(line));
    return all;
  }

  std::string path_ = std::filesystem::temp_directory_path() /
                      ("unisono-lines-" + std::to_string(getpid()) + ".jsonl");
  std::unique_ptr<LineFile> file_;
};

TEST_F(LineFileTest, EveryKindIsALineOfItsOwn) {
  file_->start({3, 4, "Some MPI"});
  file_->modules({{"/usr/bin/app", 0x1000, 0x2000, 0x40}});
  const std::array ranks{0, 3};
  file_->communicator({1, 2, ranks, 5, "left"});
  file_->algorithm(1, "ring:segment=256K");
  file_->clock({100, -20, 3});
  file_->one_way(1024, 0.5);
  file_->end(7, 0, 200);
  const std::vector<Json> all = lines();
  ASSERT_EQ(all.size(), 7);
  EXPECT_EQ(all[0]["kind"], "start");
  EXPECT_EQ(all[0]["format"], 1);
  EXPECT_EQ(all[0]["rank"], 3);
  EXPECT_EQ(all[0]["mpi"], "Some MPI");
  EXPECT_EQ(all[0]["pid"], getpid());
  EXPECT_EQ(all[0]["collectives"].size(), std::size_t{kCollectives});
  EXPECT_EQ(all[0]["collectives"][1], "bcast");
  EXPECT_FALSE(all[0]["command"].empty());
  const Json module = {
      {"path", "/usr/bin/app"}, {"start", "0x1000"}, {"end", "0x2000"}, {"offset", "0x40"}};
  EXPECT_EQ(all[1], (Json{{"kind", "modules"}, {"modules", {module}}}));
  EXPECT_EQ(all[2], (Json{{"kind", "communicator"},
                          {"id", 1},
                          {"size", 2},
                          {"ranks", {0, 3}},
                          {"occurrence", 5},
                          {"name", "left"}}));
  EXPECT_EQ(all[3], (Json{{"kind", "algorithm"}, {"id", 1}, {"spec", "ring:segment=256K"}}));
  EXPECT_EQ(all[4], (Json{{"kind", "clock"}, {"at_ns", 100}, {"offset_ns", -20}, {"error_ns", 3}}));
  EXPECT_EQ(all[5], (Json{{"kind", "one_way"}, {"bytes", 1024}, {"seconds", 0.5}}));
  EXPECT_EQ(all[6], (Json{{"kind", "end"}, {"events", 7}, {"at_ns", 200}}));
}

TEST_F(LineFileTest, LostEventsAreSaid) {
  file_->end(7, 2, 200);
  EXPECT_EQ(lines()[0]["lost"], 2);
}

TEST_F(LineFileTest, BytesThatAreNoTextDoNotThrow) {
  file_->modules({{"/tmp/\xff\"\n", 1, 2, 0}});
  file_->communicator({0, 1, {}, 0, "\xc3("});
  EXPECT_EQ(lines().size(), 2);
}

TEST_F(LineFileTest, AfterCloseNothingIsWritten) {
  file_->close();
  file_->algorithm(1, "ring");
  EXPECT_TRUE(lines().empty());
}

}  // namespace
}  // namespace unisono::trace
