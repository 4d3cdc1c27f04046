// errno as it was: a program may look at it after a call of MPI, whose waits make system calls.
#pragma once
#include <cerrno>

namespace unisono::wait {

class KeptErrno {
 public:
  KeptErrno() = default;
  ~KeptErrno() { errno = error_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int error_ = errno;
};

}  // namespace unisono::wait
