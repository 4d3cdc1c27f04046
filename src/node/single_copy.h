// Another process's memory, read and written through the kernel (Linux's cross memory attach): one
// copy where shared memory takes two.
#pragma once
#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

namespace unisono::node {

/// process_vm_readv and process_vm_writev; tests put others in their places, which fail.
using Transfer = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                             unsigned long);
struct SystemCopies {
  Transfer read = process_vm_readv, write = process_vm_writev;
};
extern SystemCopies g_system_copies;

/// False: errno says why, and a part may have been copied. `process` may be the caller's own.
bool read_memory(pid_t process, std::byte* to, const std::byte* from, std::size_t bytes);
bool write_memory(pid_t process, std::byte* to, const std::byte* from, std::size_t bytes);

/// Whether the word at `address` in that process is `value`, and can be written. Ptrace's rules,
/// containers and filters of system calls forbid it, and a process-id namespace may have another
/// process of that number: so `value` should be random, and it is read before it is written again.
bool can_reach(pid_t process, std::uint64_t* address, std::uint64_t value);

}  // namespace unisono::node
