#include "completion.h"

#include <algorithm>

namespace conformance {

namespace {

/// Which are complete.
class Seen {
 public:
  explicit Seen(std::size_t count) : seen_(count) {}
  bool all() const { return std::find(seen_.begin(), seen_.end(), false) == seen_.end(); }
  void see(int index) {
    if (index >= 0) seen_[static_cast<std::size_t>(index)] = true;
  }
  void see(const std::vector<int>& which, int done) {
    for (int i = 0; i < done; ++i) see(which[static_cast<std::size_t>(i)]);
  }

 private:
  std::vector<bool> seen_;
};

}  // namespace

void complete_all(std::vector<MPI_Request>& requests, int way) {
  const int count = static_cast<int>(requests.size());
  std::vector<int> which(requests.size());
  std::vector<MPI_Status> statuses(requests.size() + 1);
  int flag = 0, done = 0, one = 0;
  Seen seen(requests.size());
  switch (way) {
    case 0: MPI_Waitall(count, requests.data(), statuses.data()); break;
    case kWait:
      for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 2:
      while (flag == 0) MPI_Testall(count, requests.data(), &flag, MPI_STATUSES_IGNORE);
      break;
    case 3:
      while (!seen.all()) {
        MPI_Waitany(count, requests.data(), &one, MPI_STATUS_IGNORE);
        seen.see(one);
      }
      break;
    case 4:
      while (!seen.all()) {
        MPI_Waitsome(count, requests.data(), &done, which.data(), statuses.data());
        seen.see(which, done);
      }
      break;
    case 5:
      while (!seen.all()) {
        MPI_Testsome(count, requests.data(), &done, which.data(), statuses.data());
        seen.see(which, done);
      }
      break;
    case 6:
      for (MPI_Request& request : requests) {
        for (flag = 0; flag == 0;) MPI_Request_get_status(request, &flag, statuses.data());
        MPI_Test(&request, &flag, statuses.data());
      }
      break;
    default:
      while (!seen.all()) {
        MPI_Testany(count, requests.data(), &one, &flag, MPI_STATUS_IGNORE);
        if (flag != 0) seen.see(one);
      }
  }
}

}  // namespace conformance
