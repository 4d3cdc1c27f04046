// What the ranks of a job tell each other in their first collective, as the words of one maximum. A
// pair is a number and its complement, so that all see whether all have said the same.
#pragma once

namespace unisono {

enum MeetingWord : int {
  kSameVariables = 0,  // a pair, like all whose next name is two further
  kSameProfile = 2,
  kSameTopology = 4,
  kCannot = 6,
  kSameWrappers = 7,
  kHasCompany = 9,  // others may be on this rank's node
  kHasFabric = 10,
  kFewestCores = 11,  // the complement
  kSameLibrary = 12,
  kSameKernel = 14,
  kSameAffinity = 16,
  kHasSession = 18,   // made before MPI_Init
  kSameVersion = 19,  // a pair that no version may move: what the other words mean is its own
  kHasOthersElsewhere = 21,  // some of the job's ranks may be on another node than this one
  kFastestPort = 22,         // Mb/s
  // As many in all versions: ranks that tell each other vectors of different lengths break MPI's
  // rules before any of them knows.
  kMeetingWords = 32
};

}  // namespace unisono
