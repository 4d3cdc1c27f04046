// What Linux says of a machine that is not there.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace unisono::node {

/// Every package has so many memories, every memory so many L3 caches, every cache so many
/// processors, numbered one after the other.
class MadeUpMachine {
 public:
  MadeUpMachine(int packages, int memories, int caches, int cpus) {
    const int per_memory = caches * cpus, per_package = memories * per_memory;
    const int all = packages * per_package;
    write("cpu/online", range(0, all));
    write("node/online", range(0, packages * memories));
    for (int node = 0; node < packages * memories; ++node)
      write("node/node" + std::to_string(node) + "/cpulist", range(node * per_memory, per_memory));
    for (int cpu = 0; cpu < all; ++cpu) {
      const std::string own = "cpu/cpu" + std::to_string(cpu);
      write(own + "/cache/index3/shared_cpu_list", range(cpu / cpus * cpus, cpus));
      write(own + "/topology/core_siblings_list",
            range(cpu / per_package * per_package, per_package));
    }
  }
  ~MadeUpMachine() { std::filesystem::remove_all(folder_); }
  MadeUpMachine(const MadeUpMachine&) = delete;
  MadeUpMachine& operator=(const MadeUpMachine&) = delete;

  const std::string& folder() const { return folder_; }
  void write(const std::string& file, const std::string& line) const {
    const std::filesystem::path path = folder_ + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << line << '\n';
  }

 private:
  static std::string range(int first, int count) {
    const std::string begin = std::to_string(first);
    return count == 1 ? begin : begin + "-" + std::to_string(first + count - 1);
  }

  std::string folder_ = std::filesystem::temp_directory_path().string() + "/unisono-machine-" +
                        std::to_string(getpid());
};

}  // namespace unisono::node
