#include "topology/topology_file.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace unisono {
namespace {

TEST(TopologyFile, ReadsWhatSlurmReads) {
  const auto file = TopologyFile::parse(
      "# our cluster\n"
      "SwitchName=leaf1 Nodes=tux[008-010,12],login LinkSpeed=100\r\n"
      "  switchname=leaf2 NODES=rack[1-2]n1   # a comment\n"
      "\n"
      "SwitchName=spine Switches=leaf[1-2]");
  ASSERT_TRUE(file) << file.error();
  EXPECT_TRUE(file->names_switches());
  EXPECT_FALSE(file->places_ranks());
  for (const char* host : {"tux008", "tux009", "tux010", "tux12", "login", "tux009.example.org"})
    EXPECT_EQ(file->switch_of(host), 0) << host;
  EXPECT_EQ(file->switch_of("rack2n1"), 1);
  for (const char* host : {"tux8", "tux9", "tux011", "spine", "leaf1", ""})
    EXPECT_FALSE(file->switch_of(host)) << host;
}

TEST(TopologyFile, PlacesRanks) {
  const auto file = TopologyFile::parse(
      "SwitchName=a Nodes=x,y.domain\nSwitchName=b Nodes=z\n"
      "NodeName=x Ranks=0,3\nNodeName=y Ranks=1-2\nNodeName=z Ranks=4-9\n");
  ASSERT_TRUE(file) << file.error();
  EXPECT_EQ(file->node_of(2), "y");
  EXPECT_EQ(file->node_of(10), "");
  const auto labels = file->labels(5);
  ASSERT_TRUE(labels) << labels.error();
  const Topology topology(5, *labels);
  EXPECT_EQ(topology.at(Level::node)->group(0).ranks, (std::vector{0, 3}));
  EXPECT_EQ(topology.at(Level::network_switch)->group(0).ranks, (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(file->labels(11).error(), "it places rank 10 on no node");
}

TEST(TopologyFile, NamesTheNodeThatNoSwitchJoins) {
  const auto file = TopologyFile::parse("SwitchName=a Nodes=x\nNodeName=w Ranks=0");
  ASSERT_TRUE(file) << file.error();
  EXPECT_EQ(file->labels(1).error(), "node w is under no switch");
}

TEST(TopologyFile, SaysInOneLineWhatIsWrong) {
  const std::pair<const char*, const char*> wrong[] = {
      {"", "it says nothing of any node"},
      {"SwitchName=s Switches=a,b", "it says nothing of any node"},
      {"SwitchName=s", "line 1: a switch has either Nodes= or Switches="},
      {"SwitchName=s Nodes=a Switches=b", "either Nodes= or Switches="},
      {"\nSwitchName=s Nodes=a[1-", "line 2: Nodes=a[1- is no list of names"},
      {"SwitchName=s Nodes=a[2-1]", "is no list of names"},
      {"SwitchName=s Nodes=a]", "is no list of names"},
      {"SwitchName=s Nodes=a[1][2]", "is no list of names"},
      {"SwitchName=s Nodes=a[]", "is no list of names"},
      {"SwitchName=s Nodes=a,,b", "is no list of names"},
      {"SwitchName=s Nodes=a,", "is no list of names"},
      {"SwitchName=s Nodes=a[0-999999999]", "is no list of names"},
      {"SwitchName=s Nodes=a\nSwitchName=t Nodes=a", "line 2: 'a' is under two switches"},
      {"SwitchName=s Nodes=a b", "'b' is no KEY=VALUE"},
      {"SwitchName=s Nodes=", "'Nodes=' is no KEY=VALUE"},
      {"SwitchName=s Rack=a", "no key 'rack'"},
      {"SwitchName=s switchname=t Nodes=a", "'switchname' is given twice"},
      {"Nodes=a", "it names neither the nodes of a switch nor the ranks of a node"},
      {"NodeName=a", "it names neither"},
      {"NodeName=a Ranks=x", "Ranks=x is no list of ranks"},
      {"NodeName=a Ranks=-1", "is no list of ranks"},
      {"NodeName=a Ranks=0-3\nNodeName=b Ranks=3", "line 2: rank 3 is on two nodes"},
      {"{\"switches\": []}", "is no KEY=VALUE"},
  };
  for (const auto& [text, expected] : wrong) {
    const auto file = TopologyFile::parse(text);
    ASSERT_FALSE(file) << text;
    EXPECT_NE(file.error().find(expected), std::string::npos) << text << ": " << file.error();
    EXPECT_EQ(file.error().find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace unisono
