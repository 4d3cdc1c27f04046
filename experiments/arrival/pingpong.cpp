// The ping-pong program: one-way times between ranks 0 and 1, as JSON on standard output.
//
//   pingpong SECONDS BYTES...     so long for every size, at least 5 blocks of round trips
//
// A block is as many round trips as fill 0.2 ms, so that reading the clock costs nothing; its time
// over twice their number is one sample. What comes back is compared with what was sent. It uses
// nothing but MPI, so that it runs in the simulator too.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace {

constexpr double kBlockSeconds = 200e-6;
constexpr std::size_t kFewestBlocks = 5, kMostBlocks = 2000;
constexpr int kMostTrips = 1000;
enum Tag : int { kControl, kData };

using Message = std::vector<unsigned char>;

/// Rank 0's side of a block: seconds of a one-way trip.
double one_way(int trips, const Message& sent, Message& received) {
  const int bytes = static_cast<int>(sent.size());
  MPI_Send(&trips, 1, MPI_INT, 1, kControl, MPI_COMM_WORLD);
  std::fill(received.begin(), received.end(), 0);
  const double begin = MPI_Wtime();
  for (int i = 0; i < trips; ++i) {
    MPI_Send(sent.data(), bytes, MPI_BYTE, 1, kData, MPI_COMM_WORLD);
    MPI_Recv(received.data(), bytes, MPI_BYTE, 1, kData, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const double seconds = (MPI_Wtime() - begin) / (2.0 * trips);
  if (received != sent) {
    std::fprintf(stderr, "pingpong: WRONG: %d bytes did not come back as they were sent\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return seconds;
}

/// Rank 1's side of all blocks of one size.
void send_back(Message& message) {
  const int bytes = static_cast<int>(message.size());
  for (int trips = 1; trips > 0;) {
    MPI_Recv(&trips, 1, MPI_INT, 0, kControl, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < trips; ++i) {
      MPI_Recv(message.data(), bytes, MPI_BYTE, 0, kData, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(message.data(), bytes, MPI_BYTE, 0, kData, MPI_COMM_WORLD);
    }
  }
}

std::vector<double> measure(double seconds, std::size_t bytes) {
  Message sent(bytes), received(bytes);
  std::iota(sent.begin(), sent.end(), static_cast<unsigned char>(1));
  one_way(1, sent, received);  // connects
  const double first = std::max(one_way(2, sent, received), 1e-9);
  const int trips = std::clamp(static_cast<int>(kBlockSeconds / (2 * first)), 1, kMostTrips);

  std::vector<double> samples;
  const double begin = MPI_Wtime();
  while (samples.size() < kFewestBlocks ||
         (samples.size() < kMostBlocks && MPI_Wtime() - begin < seconds))
    samples.push_back(one_way(trips, sent, received));
  const int stop = 0;
  MPI_Send(&stop, 1, MPI_INT, 1, kControl, MPI_COMM_WORLD);
  return samples;
}

void print(std::size_t bytes, const std::vector<double>& samples, bool is_first) {
  std::printf("%s\n  {\"bytes\": %zu, \"one_way_us\": [", is_first ? "" : ",", bytes);
  for (std::size_t i = 0; i < samples.size(); ++i)
    std::printf("%s%.4f", i == 0 ? "" : ", ", samples[i] * 1e6);
  std::printf("]}");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2 || argc < 3) {
    if (rank == 0) std::fprintf(stderr, "usage, on two ranks: pingpong SECONDS BYTES...\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const double seconds = std::atof(argv[1]);
  if (rank == 0) std::printf("{\"ranks\": %d, \"cells\": [", ranks);
  for (int i = 2; i < argc; ++i) {
    const auto bytes = static_cast<std::size_t>(std::atoll(argv[i]));
    Message message(bytes);
    if (rank == 0) print(bytes, measure(seconds, bytes), i == 2);
    if (rank == 1) send_back(message);
  }
  if (rank == 0) std::printf("\n]}\n");
  MPI_Finalize();
  return 0;
}
