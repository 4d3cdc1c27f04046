// A file is handed to other processes of this user over a socket (SCM_RIGHTS), where they cannot
// open it by its path in /proc: another namespace of processes, a /proc that hides, or none.
#pragma once
#include <array>
#include <utility>

namespace unisono::node {

/// A socket's name, in Linux's abstract namespace, that nobody can foresee. Empty: there is none.
using HandoverName = std::array<char, 64>;

/// A descriptor that is closed at the end of its scope.
class OwnFile {
 public:
  explicit OwnFile(int file = -1) : file_(file) {}
  OwnFile(OwnFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  OwnFile& operator=(OwnFile&&) = delete;
  ~OwnFile();
  int number() const { return file_; }
  explicit operator bool() const { return file_ >= 0; }

 private:
  int file_;
};

/// The giver's side. `name` stays empty where there can be no such socket.
OwnFile offer(HandoverName& name);
/// Gives the file to all who have called by now; strangers get nothing. Whoever it could not be
/// given to sees the end of the conversation.
void give(const OwnFile& offered, int file);

/// The taker's side. False: nobody answers there, or too many have called.
OwnFile call_giver(const HandoverName& name);
/// The file, once it has been given; -1: it has not been.
int take(const OwnFile& called);

}  // namespace unisono::node
