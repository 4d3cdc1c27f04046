// Collectives by multicast among hosts: roots in turn, calls that overlap, groups that change,
// communicators that come and go. Run in a lab by tests/python/test_multicast_collectives.py; on
// one node, or with a network that carries none, the same calls go to each rank and are as right.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "check.h"

extern "C" {
__attribute__((weak)) int unisono_open_group(MPI_Comm comm, int members, const int ranks[]);
__attribute__((weak)) int unisono_close_group(MPI_Comm comm, int members, const int ranks[]);
}

namespace {

using namespace conformance;

using Bytes = std::vector<unsigned char>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

unsigned char value(int root, int nth, std::size_t i) {
  return static_cast<unsigned char>(7 * root + 13 * nth + static_cast<int>(i % 251));
}

Bytes text(int root, int nth, int bytes) {
  Bytes all(at(bytes));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = value(root, nth, i);
  return all;
}

/// Without a word between them, of lengths on both sides of what is copied and of a packet.
void broadcasts(MPI_Comm comm) {
  const int rank = rank_in(comm), size = size_of(comm);
  int nth = 0;
  for (const int bytes : {0, 1, 1440, 1441, 8000, 70000, 300000})
    for (int root = 0; root < size; ++root, ++nth) {
      Bytes data = rank == root ? text(root, nth, bytes) : Bytes(at(bytes));
      MPI_Bcast(data.data(), bytes, MPI_BYTE, root, comm);
      CHECK(data == text(root, nth, bytes));
      std::fill(data.begin(), data.end(), 0);  // it is the program's again
    }
}

/// Of elements with gaps on one side, and none on the other.
void datatypes(MPI_Comm comm) {
  const int rank = rank_in(comm);
  MPI_Datatype strided = MPI_DATATYPE_NULL;
  MPI_Type_vector(1000, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  std::vector<int> data(2000, -1);
  if (rank == 1)
    for (int i = 0; i < 1000; ++i) data[at(2 * i)] = i;
  if (rank == 0) {
    std::vector<int> dense(1000);
    MPI_Bcast(dense.data(), 1000, MPI_INT, 1, comm);
    for (int i = 0; i < 1000; ++i) CHECK(dense[at(i)] == i);
  } else {
    MPI_Bcast(data.data(), 1, strided, 1, comm);
    for (int i = 0; i < 2000; ++i) CHECK(data[at(i)] == (i % 2 == 0 ? i / 2 : -1));
  }
  MPI_Type_free(&strided);
}

void in_flight(MPI_Comm comm) {
  const int rank = rank_in(comm), size = size_of(comm);
  constexpr int kCalls = 6;
  std::vector<Bytes> data;
  std::vector<MPI_Request> requests(kCalls);
  for (int i = 0; i < kCalls; ++i)
    data.push_back(rank == i % size ? text(i, i, 5000 * i) : Bytes(at(5000 * i)));
  for (int i = 0; i < kCalls; ++i)
    MPI_Ibcast(data[at(i)].data(), 5000 * i, MPI_BYTE, i % size, comm, &requests[at(i)]);
  if (rank % 2 == 0) std::reverse(requests.begin(), requests.end());  // waited for in any order
  for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < kCalls; ++i) CHECK(data[at(i)] == text(i, i, 5000 * i));
}

/// A blocking call overtakes one in flight on some ranks: their messages are not mixed up.
void overtaking(MPI_Comm comm) {
  const int rank = rank_in(comm), size = size_of(comm), root = size - 1;
  constexpr int kBytes = 100'000;
  std::vector<int> counts(at(size), kBytes), places(at(size));
  Bytes all, own(kBytes), other = rank == root ? text(root, 1, kBytes) : Bytes(kBytes);
  for (int i = 0; i < size; ++i) {
    places[at(i)] = static_cast<int>(all.size());
    const Bytes block = text(i, 0, kBytes);
    all.insert(all.end(), block.begin(), block.end());
  }
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank != 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  MPI_Iscatterv(all.data(), counts.data(), places.data(), MPI_BYTE, own.data(), kBytes, MPI_BYTE, 0,
                comm, &request);
  for (int looks = 0; rank == 0 && looks < 1000; ++looks) {
    int done = 0;
    MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
  }
  MPI_Bcast(other.data(), kBytes, MPI_BYTE, root, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(own == text(rank, 0, kBytes));
  CHECK(other == text(root, 1, kBytes));
}

/// The root's word to the others is nothing that multicast knows of: they wait for it elsewhere
/// while the root waits for their acknowledgements, of which the network loses some.
void words_behind(MPI_Comm comm, int rounds) {
  constexpr int kBytes = 200'000;
  for (int round = 0; round < rounds; ++round) {
    Bytes data = rank_in(comm) == 0 ? text(0, round, kBytes) : Bytes(kBytes);
    MPI_Bcast(data.data(), kBytes, MPI_BYTE, 0, comm);
    CHECK(data == text(0, round, kBytes));
    int word = round;
    for (int i = 1; rank_in(comm) == 0 && i < size_of(comm); ++i)
      MPI_Send(&word, 1, MPI_INT, i, 0, comm);
    if (rank_in(comm) != 0) MPI_Recv(&word, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    CHECK(word == round);
  }
}

void scatters_and_allgathers(MPI_Comm comm) {
  const int rank = rank_in(comm), size = size_of(comm);
  for (const int bytes : {1, 50, 3000}) {
    Bytes all, own(at(bytes)), gathered(at(bytes * size));
    for (int i = 0; i < size; ++i) {
      const Bytes block = text(i, bytes, bytes);
      all.insert(all.end(), block.begin(), block.end());
    }
    const int root = size - 1;
    if (rank == root)
      MPI_Scatter(all.data(), bytes, MPI_BYTE, MPI_IN_PLACE, bytes, MPI_BYTE, root, comm);
    else
      MPI_Scatter(nullptr, 0, MPI_BYTE, own.data(), bytes, MPI_BYTE, root, comm);
    if (rank == root) own = text(rank, bytes, bytes);
    CHECK(own == text(rank, bytes, bytes));
    MPI_Allgather(own.data(), bytes, MPI_BYTE, gathered.data(), bytes, MPI_BYTE, comm);
    CHECK(gathered == all);
  }
}

/// One to some: those whose bit is set get something.
struct OneToSome {
  OneToSome(int rank, int size, unsigned receivers, int nth) {
    for (int i = 0; i < size; ++i) {
      places.push_back(static_cast<int>(all.size()));
      counts.push_back((receivers >> i & 1U) != 0 ? 100 * (i + 1) : 0);
      const Bytes block = text(i, nth, counts.back());
      all.insert(all.end(), block.begin(), block.end());
      all.push_back(0);  // gaps
    }
    expected = text(rank, nth, counts[at(rank)]);
    own.assign(expected.size(), 0);
    if (rank != 0) all.clear();
  }
  Bytes all, own, expected;
  std::vector<int> counts, places;
};

/// Groups that change from call to call; more of them than there may be at a time.
void changing_groups(MPI_Comm comm) {
  const int rank = rank_in(comm), size = size_of(comm);
  for (int nth = 0; nth < 12; ++nth) {
    OneToSome to(rank, size, 1U << (1 + nth % (size - 1)) | (nth % 5 == 0 ? 4U : 0U), nth);
    MPI_Scatterv(to.all.data(), to.counts.data(), to.places.data(), MPI_BYTE, to.own.data(),
                 to.counts[at(rank)], MPI_BYTE, 0, comm);
    CHECK(to.own == to.expected);
  }
}

/// The paper's open_group, data_movement, close_group. Started in another order on each rank.
void assisted_groups(MPI_Comm comm) {
  const int rank = rank_in(comm), size = size_of(comm);
  OneToSome first(rank, size, 0x6, 1), second(rank, size, 0xD, 2);
  MPI_Request requests[2];
  OneToSome* all[] = {&first, &second};
  for (int i = 0; i < 2; ++i)
    MPI_Scatterv_init(all[i]->all.data(), all[i]->counts.data(), all[i]->places.data(), MPI_BYTE,
                      all[i]->own.data(), all[i]->counts[at(rank)], MPI_BYTE, 0, comm,
                      MPI_INFO_NULL, &requests[i]);
  for (int nth = 0; nth < 10; ++nth) {
    for (OneToSome* one : all) {
      for (unsigned char& byte : one->all) ++byte;
      for (unsigned char& byte : one->expected) ++byte;
    }
    // The bytes between blocks go up as well, and nobody gets them.
    MPI_Start(&requests[rank % 2]);
    MPI_Start(&requests[1 - rank % 2]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (OneToSome* one : all) CHECK(one->own == one->expected);
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

void communicators() {
  MPI_Comm half = MPI_COMM_NULL;
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  for (int i = 0; i < 3; ++i) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(half, &copy);
    for (int root = 0; root < size_of(copy); ++root) {
      Bytes data = rank_in(copy) == root ? text(root, i, 20000) : Bytes(20000);
      MPI_Bcast(data.data(), 20000, MPI_BYTE, root, copy);
      CHECK(data == text(root, i, 20000));
    }
    MPI_Comm_free(&copy);
  }
  MPI_Comm_free(&half);
}

void asked_for_groups(MPI_Comm comm, bool carried) {
  if (unisono_open_group == nullptr) return;
  const int members[] = {0, 1};
  CHECK((unisono_open_group(comm, 2, members) == 0) == carried);
  CHECK((unisono_close_group(comm, 2, members) == 0) == carried);
  CHECK(unisono_close_group(comm, 2, members) != 0);  // there is none any more
}

}  // namespace

// "carried": the network carries multicast, so that groups can be made; "shared": so it does, among
// hosts of several ranks.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto is = [&](const char* word) { return argc > 1 && std::strcmp(argv[1], word) == 0; };
  const bool carried = is("carried");
  if (is("lossy")) {
    constexpr int kRounds = 60;
    words_behind(MPI_COMM_WORLD, kRounds);
    passed("multicast", kRounds, kAnyNumber);
    MPI_Finalize();
    return 0;
  }
  broadcasts(MPI_COMM_WORLD);
  datatypes(MPI_COMM_WORLD);
  in_flight(MPI_COMM_WORLD);
  overtaking(MPI_COMM_WORLD);
  words_behind(MPI_COMM_WORLD, 3);
  scatters_and_allgathers(MPI_COMM_WORLD);
  changing_groups(MPI_COMM_WORLD);
  assisted_groups(MPI_COMM_WORLD);
  communicators();
  asked_for_groups(MPI_COMM_WORLD, carried);
  broadcasts(MPI_COMM_WORLD);  // after a group of some has come and gone
  passed("multicast", carried ? 80 : is("shared") ? 40 : 0, kAnyNumber);
  MPI_Finalize();
  return 0;
}
