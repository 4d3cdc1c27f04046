// How MPI libraries wait, by the first line of MPI_Get_library_version.
#include "mpi/library_waits.h"

#include <gtest/gtest.h>

namespace unisono {
namespace {

TEST(LibraryWaits, AreThoseOfTheLibrarysVersion) {
  const auto yield = [](const char* line) { return waits_of(line).yield; };
  EXPECT_TRUE(yield("Intel(R) MPI Library 2021.19 for Linux* OS"));
  EXPECT_TRUE(yield("MPICH Version:      5.0.2"));
  EXPECT_TRUE(yield("MPICH Version:\t10.1"));
  EXPECT_FALSE(yield("MPICH Version:      4.0.2"));
  EXPECT_FALSE(yield("MPICH Version:"));
  EXPECT_FALSE(yield("MVAPICH2 Version      :\t2.3.7"));
  EXPECT_FALSE(yield(""));
}

TEST(LibraryWaits, AreNotMadeOfLooksWhereAThreadWouldKeepALock) {
  EXPECT_TRUE(waits_of("MPICH Version:      4.0.2").may_look_among_threads);
  EXPECT_TRUE(waits_of("Intel(R) MPI Library 2021.19 for Linux* OS").may_look_among_threads);
  EXPECT_FALSE(waits_of("MPICH Version:      3.4.3").may_look_among_threads);
  EXPECT_FALSE(waits_of("MVAPICH2 Version      :\t2.3.7").may_look_among_threads);
}

TEST(LibraryWaits, GiveWayAsTheUserAsksWhereRanksShareCores) {
  EXPECT_EQ(when_waits_give_way({}, true), GivesWay::naps);
  EXPECT_EQ(when_waits_give_way(WaitMode::sleep, true), GivesWay::naps);
  EXPECT_EQ(when_waits_give_way(WaitMode::yield, true), GivesWay::yields);
  EXPECT_EQ(when_waits_give_way(WaitMode::spin, true), GivesWay::never);
  EXPECT_EQ(when_waits_give_way({}, false), GivesWay::late);
  EXPECT_EQ(when_waits_give_way(WaitMode::spin, false), GivesWay::never);
}

}  // namespace
}  // namespace unisono
