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

TEST(TopologyFile, ReadsATorus) {
  const auto file = TopologyFile::parse(
      "Torus=4x3x2 Wrap=yes,no,yes Routing=directed\n"
      "NodeName=node[00-22]\n"
      "nodename=login.example.org coordinates=3,2,1\n");
  ASSERT_TRUE(file) << file.error();
  const TorusLines& torus = file->torus();
  ASSERT_TRUE(torus.known());
  EXPECT_EQ(torus.torus()->hosts(), 24);
  EXPECT_TRUE(torus.torus()->wraps(0));
  EXPECT_FALSE(torus.torus()->wraps(1));
  EXPECT_EQ(torus.routing(), Routing::directed);
  EXPECT_EQ(torus.host_of("node13.example.org"), 13);
  EXPECT_EQ(torus.host_of("login"), 23);
  EXPECT_FALSE(torus.host_of("node23"));
}

TEST(TopologyFile, ReadsSlurmsNamesOfATorus) {
  const auto file =
      TopologyFile::parse("Torus=8x8x36\nNodeName=tux01Z,tux7[00-07] Coordinates=suffix");
  ASSERT_TRUE(file) << file.error();
  EXPECT_EQ(file->torus().host_of("tux01Z"), 0 + 8 * 1 + 64 * 35);
  EXPECT_EQ(file->torus().host_of("tux703"), 7 + 8 * 0 + 64 * 3);
}

TEST(TopologyFile, PlacesRanksOnATorus) {
  const auto file = TopologyFile::parse(
      "Torus=2x2\nNodeName=a,b,c,d\nNodeName=d Ranks=0,2\nNodeName=b Ranks=1\n");
  ASSERT_TRUE(file) << file.error();
  const auto labels = file->labels(3);
  ASSERT_TRUE(labels) << labels.error();
  const Topology topology(3, *labels);
  ASSERT_NE(topology.torus(), nullptr);
  EXPECT_EQ(topology.torus()->members().size(), 2);
  EXPECT_EQ(topology.torus()->host_of(2), 3);
  ASSERT_NE(topology.of_groups(Level::node).torus(), nullptr);
  EXPECT_EQ(topology.of_groups(Level::node).torus()->host_of(1), 1);
  const Topology part(1, labels->restricted_to(std::vector{1}));
  EXPECT_EQ(part.torus()->host_of(0), 1);
}

// 750 million ranks, and as many nodes, in four million at a time: a minute, once.
TEST(TopologyFile, MoreThanAnyMachineHasIsRefused) {
  constexpr int kStep = 4'000'000, kLast = 750'000'000;
  std::string ranks = "NodeName=a Ranks=0-" + std::to_string(kStep - 1),
              nodes = "SwitchName=s Nodes=a";
  for (int i = kStep; i < kLast; i += kStep) {
    const std::string range = std::to_string(i) + "-" + std::to_string(i + kStep - 1);
    ranks += "," + range;
    nodes += ",node[" + range + "]";
  }
  EXPECT_NE(TopologyFile::parse(ranks).error().find("rank 19999999 is beyond the 16777216 ranks"),
            std::string::npos);
  EXPECT_NE(TopologyFile::parse(nodes).error().find("names more nodes"), std::string::npos);
  EXPECT_LE(TopologyFile::parse(nodes).error().size(), 300U);
  const std::string long_names = "SwitchName=s Nodes=" + std::string(100'000, 'n') + "[1-9999]";
  EXPECT_FALSE(TopologyFile::parse(long_names));
}

TEST(TopologyFile, ManyRanksOfANodeAreOneEntry) {
  const auto file =
      TopologyFile::parse("NodeName=a Ranks=0-9999999,10000001\nNodeName=b Ranks=10000000");
  ASSERT_TRUE(file) << file.error();
  EXPECT_EQ(file->node_of(9'999'999), "a");
  EXPECT_EQ(file->node_of(10'000'000), "b");
  EXPECT_EQ(file->node_of(10'000'001), "a");
  EXPECT_EQ(file->node_of(10'000'002), "");
}

TEST(TopologyFile, HostileTextIsEscaped) {
  const auto file = TopologyFile::parse("SwitchName=s Nodes=a \x1b]0;owned\x07\xff");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().find(R"('\x1b]0;owned\x07\xff' is no KEY=VALUE)"), std::string::npos)
      << file.error();
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
      {"NodeName=a", "line 1: NodeName= without Ranks=, before Torus="},
      {"NodeName=a Coordinates=1,1\nTorus=2x2", "line 1: Coordinates= before Torus="},
      {"Torus=cart Wrap=yes", "with Torus=cart MPI says what wraps"},
      {"Torus=cart\nTorus=4", "there is a torus already"},
      {"Torus=8y8", "Torus=8y8 is no list of sizes like 8x8x16"},
      {"Torus=1x1", "is no list of sizes"},
      {"Torus=0x4", "is no list of sizes"},
      {"Torus=99999x99999", "is no list of sizes"},
      {"Torus=4x4 Wrap=yes", "Wrap= has not as many entries"},
      {"Torus=4x4 Wrap=1,0", "Wrap=1,0 is no list of yes and no"},
      {"Torus=4x4 Routing=fast", "Routing=fast: valid are minimal, directed, source, adaptive"},
      {"Torus=4x4 Ranks=0", "with Torus= go Wrap= and Routing= only"},
      {"Torus=4x4\nTorus=4x4", "line 2: there is a torus already"},
      {"Torus=2x2\nNodeName=a[0-4]", "'a4' is one node more than the torus has hosts"},
      {"Torus=2x2\nNodeName=a Coordinates=2,0", "are not those of one node on the torus"},
      {"Torus=2x2\nNodeName=a,b Coordinates=1,0", "are not those of one node on the torus"},
      {"Torus=2x2\nNodeName=a\nNodeName=b Coordinates=0,0", "'b' and 'a' are both at (0,0)"},
      {"Torus=2x2\nNodeName=a,a", "'a' is on two hosts"},
      {"Torus=2x2\nNodeName=tux9 Coordinates=suffix", "does not end with coordinates"},
      {"SwitchName=s Nodes=a,", "is no list of names"},
      {"SwitchName=s Nodes=a[0-999999999]", "names more nodes than any machine has"},
      {"SwitchName=s Nodes=a\nSwitchName=t Nodes=a", "line 2: 'a' is under two switches"},
      {"SwitchName=s Nodes=a b", "'b' is no KEY=VALUE"},
      {"SwitchName=s Nodes=", "'Nodes=' is no KEY=VALUE"},
      {"SwitchName=s Rack=a", "no key 'rack'"},
      {"SwitchName=s switchname=t Nodes=a", "'switchname' is given twice"},
      {"Nodes=a", "it names neither the nodes of a switch, nor the ranks of a node, nor a torus"},
      {"NodeName=a Nodes=b", "it names neither"},
      {"NodeName=a Ranks=x", "Ranks=x is no list of ranks"},
      {"NodeName=a Ranks=-1", "is no list of ranks"},
      {"NodeName=a Ranks=0-3\nNodeName=b Ranks=3", "line 2: rank 3 is on two nodes"},
      {"NodeName=a Ranks=5\nNodeName=b Ranks=3-9", "line 2: rank 5 is on two nodes"},
      {"NodeName=a Ranks=3-9\nNodeName=b Ranks=1-4", "line 2: rank 3 is on two nodes"},
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
