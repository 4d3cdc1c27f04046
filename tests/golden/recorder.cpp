#include "recorder.h"

#include <algorithm>
#include <cstdio>

#include "unisono/unisono.h"

namespace golden {

namespace {

constexpr int kTag = 7;

/// "nnnuu" as "n3 u2".
std::string runs_of(const std::string& letters) {
  std::string text;
  for (std::size_t begin = 0; begin < letters.size();) {
    const std::size_t end =
        std::min(letters.find_first_not_of(letters[begin], begin), letters.size());
    text +=
        (text.empty() ? "" : " ") + std::string(1, letters[begin]) + std::to_string(end - begin);
    begin = end;
  }
  return text;
}

std::string received_from(int rank) {
  MPI_Status status;
  int length = 0;
  MPI_Probe(rank, kTag, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_CHAR, &length);
  std::string text(static_cast<std::size_t>(length), ' ');
  MPI_Recv(text.data(), length, MPI_CHAR, rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return text;
}

}  // namespace

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

void Recorder::begin() { unisono_counts(&own_, &native_); }

void Recorder::end(std::string_view step) {
  unsigned long long own = 0, native = 0;
  unisono_counts(&own, &native);
  // A call may make others, as a free does: then it has a letter for each.
  std::string letters = std::string(own - own_, 'u') + std::string(native - native_, 'n');
  if (letters.empty()) letters = "-";
  if (steps_.empty() || steps_.back().name != step) steps_.push_back({std::string(step), ""});
  steps_.back().letters += letters;
}

void Recorder::write() const {
  std::string text;
  for (const Step& step : steps_) text += step.name + ": " + runs_of(step.letters) + "\n";
  if (const int rank = rank_in(MPI_COMM_WORLD); rank != 0) {
    MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, kTag, MPI_COMM_WORLD);
    return;
  }
  std::printf("%s", text.c_str());
  for (int rank = 1; rank < size_of(MPI_COMM_WORLD); ++rank)
    if (const std::string other = received_from(rank); other != text)
      std::printf("rank %d:\n%s", rank, other.c_str());
}

}  // namespace golden
