#pragma once

// The state of the fake driver: contexts with their objects, and helpers that its functions share.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "runtime/cuda/cuda_loop.h"
#include "runtime/cuda/fake_cuda.h"

namespace vyre::fake_cuda {

using namespace vyre::driver::cuda;
using Clock = std::chrono::steady_clock;

// ---- Objects.

struct Event_ {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t recorded = 0, completed = 0;
  Clock::time_point at;

  void complete(uint64_t turn) {
    const std::lock_guard lock(mutex);
    completed = std::max(completed, turn);
    at = Clock::now();
    changed.notify_all();
  }
};

struct Stream_ {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> queue;
  bool closing = false, busy = false;
  std::thread thread;

  Stream_() : thread([this] { work(); }) {}
  ~Stream_() {
    {
      const std::lock_guard lock(mutex);
      closing = true;
      changed.notify_all();
    }
    thread.join();
  }
  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return closing || !queue.empty(); });
      if (queue.empty()) return;
      const auto first = std::move(queue.front());
      queue.pop_front();
      busy = true;
      lock.unlock();
      first();
      lock.lock();
      busy = false;
      changed.notify_all();
    }
  }
  void add(std::function<void()> what) {
    const std::lock_guard lock(mutex);
    queue.push_back(std::move(what));
    changed.notify_all();
  }
  void drain() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return queue.empty() && !busy; });
  }
};

struct Module_ {
  std::string text;
};

struct Function_ {
  std::shared_ptr<Module_> module;
  std::string entry;
  size_t parameter_bytes = 0;
  int max_threads = 1024;
  int dynamic_shared_limit = 48 << 10;
};

struct Link_ {
  std::string text, output;
  char* log = nullptr;
  size_t log_bytes = 0;
};

struct Node_ {
  enum class Kind { Kernel, Memset, Copy, While } kind;
  // Kernel.
  std::shared_ptr<Function_> function;
  unsigned grid[3] = {}, block[3] = {}, shared_bytes = 0;
  std::vector<std::byte> parameters;
  bool cooperative = false;
  MemsetNode memset;
  CopyNode copy;
  // While.
  ConditionHandle condition = 0;
  struct Graph_* body = nullptr;
};

struct Graph_ {
  std::vector<std::unique_ptr<Node_>> nodes;
  std::vector<std::unique_ptr<Graph_>> bodies;
  Graph_* self = this;  // what `bodies` of a node points to
};

/// A copy of a graph, with a way from the graph's nodes to its own.
struct Exec_ {
  std::unique_ptr<Graph_> graph;
  std::map<Node_*, Node_*> mine;
};

/// The objects that were created in the context of a device, and its sticky error, which every
/// later call returns.
struct Context_ {
  int ordinal = 0;
  int retained = 0;
  size_t leaked = 0;  // objects that were left when the last reference was released
  std::atomic<int> error{0};
  size_t used = 0;                               // bytes of `memory`
  std::map<DevicePointer, size_t> memory, host;  // pieces and their sizes
  std::map<ModuleHandle, std::shared_ptr<Module_>> modules;
  std::map<FunctionHandle, std::shared_ptr<Function_>> functions;
  std::map<EventHandle, std::shared_ptr<Event_>> events;  // work on a stream may outlive a handle
  std::set<Stream_*> streams;
  std::set<Exec_*> execs;
  std::set<Graph_*> graphs;
  std::set<Link_*> links;

  ~Context_() { clear(); }
  size_t objects() const {
    return leaked + size_t(retained) + memory.size() + host.size() + modules.size() +
           events.size() + streams.size() + execs.size() + graphs.size() + links.size();
  }
  /// With the last reference, or a reset. The next one to retain it has a new one.
  void destroy() {
    if (!error) leaked += objects() - leaked - size_t(retained);
    error = int(Status::ContextIsDestroyed);  // ends what is in progress
    clear();
    error = 0;
  }
  void clear() {
    const auto free_all = [](auto& all) {
      for (auto* one : all) delete one;
      all.clear();
    };
    free_all(streams);  // first: they may be at work
    free_all(execs);
    free_all(graphs);
    free_all(links);
    for (auto* pieces : {&memory, &host}) {
      for (const auto& [at, bytes] : *pieces) std::free(reinterpret_cast<void*>(at));
      pieces->clear();
    }
    functions.clear();
    modules.clear();
    events.clear();
    used = 0;
    retained = 0;
  }
};

// ---- The driver.

class Driver : public Control {
 public:
  Driver() { reset_to(from_environment()); }

  void reset(const Config& config) override { reset_to(config); }
  void set_executor(Executor e) override {
    const std::lock_guard lock(mutex);
    executor = std::move(e);
  }
  void fail(const std::string& function, int nth, int status, int times) override {
    const std::lock_guard lock(mutex);
    faults[function] = {nth, status, times};
  }
  bool has_fault() const override {
    const std::lock_guard lock(mutex);
    return !faults.empty();
  }
  uint64_t calls(const std::string& function) const override {
    const std::lock_guard lock(mutex);
    const auto it = counts.find(function);
    return it == counts.end() ? 0 : it->second;
  }
  void forget_calls() override {
    const std::lock_guard lock(mutex);
    counts.clear();
  }
  size_t memory_used() const override {
    return sum([](const Context_& c) { return c.used; });
  }
  size_t modules() const override {
    return sum([](const Context_& c) { return c.modules.size(); });
  }
  size_t pinned() const override {
    return sum([](const Context_& c) { return c.host.size(); });
  }
  size_t graphs() const override {
    return sum([](const Context_& c) { return c.execs.size(); });
  }
  size_t objects() const override {
    return sum([](const Context_& c) { return c.objects(); });
  }
  size_t sum(size_t (*of)(const Context_&)) const {
    const std::lock_guard lock(mutex);
    size_t all = 0;
    for (const auto& c : contexts) all += of(*c);
    return all;
  }

  static Config from_environment() {
    Config c;
    if (const char* v = std::getenv("VYRE_FAKE_CUDA_VERSION")) c.driver_version = std::atoi(v);
    if (const char* v = std::getenv("VYRE_FAKE_CUDA_DEVICES"))
      c.devices.resize(size_t(std::atoi(v)));
    if (const char* v = std::getenv("VYRE_FAKE_CUDA_CAPABILITY"))
      for (DeviceConfig& d : c.devices) d.capability = std::atoi(v);
    return c;
  }

  void reset_to(const Config& c) {
    std::vector<std::unique_ptr<Context_>> gone;  // after the lock: their streams may be at work
    const std::lock_guard lock(mutex);
    config = c;
    executor = nullptr;
    faults.clear();
    counts.clear();
    gone.swap(contexts);
    for (size_t i = 0; i < c.devices.size(); ++i) {
      contexts.push_back(std::make_unique<Context_>());
      contexts.back()->ordinal = int(i);
    }
    initialized = false;
  }

  /// Every function begins with this.
  Status enter(const char* function) {
    const std::lock_guard lock(mutex);
    ++counts[function];
    auto it = faults.find(function);
    if (it == faults.end() && !gives_back(function)) it = faults.find(any_function);
    if (it != faults.end() && --it->second.nth <= 0) {
      const Status s = Status(it->second.status);
      if (--it->second.times <= 0) faults.erase(it);
      if (is_context_error(s) && !current_stack().empty()) current_stack().back()->error = int(s);
      return s;
    }
    return Status::Success;
  }
  /// For those that need a context.
  Status enter_context(const char* function) {
    if (const Status s = enter(function); s != Status::Success) return s;
    if (current_stack().empty()) return Status::InvalidContext;
    return Status(current_stack().back()->error.load());
  }

  /// Who cannot give something back has it for ever: nothing that is worth a test.
  static bool gives_back(const std::string& function) {
    for (const char* word : {"Destroy", "Free", "Release", "Unload", "Unregister"})
      if (function.find(word) != function.npos) return true;
    return false;
  }

  static bool is_context_error(Status s) {
    const int n = int(s);
    return (n >= 700 && n <= 719 && n != 701) || n == 214 || n == 999 || n == 46;
  }

  static std::vector<Context_*>& current_stack() {
    thread_local std::vector<Context_*> stack;
    return stack;
  }
  Context_* current() { return current_stack().back(); }

  // Memory.
  Status allocate(DevicePointer* out, size_t bytes) {
    const std::lock_guard lock(mutex);
    Context_& c = *current();
    if (c.used + bytes > config.devices[size_t(c.ordinal)].memory_bytes) return Status::OutOfMemory;
    void* p = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!p) return Status::OutOfMemory;
    std::memset(p, 0xcd, bytes);  // callers must not rely on zeros
    c.used += bytes;
    *out = reinterpret_cast<DevicePointer>(p);
    c.memory[*out] = bytes;
    return Status::Success;
  }
  bool release(Context_& c, DevicePointer p) {
    const std::lock_guard lock(mutex);
    const auto it = c.memory.find(p);
    if (it == c.memory.end()) return false;
    c.used -= it->second;
    std::memset(reinterpret_cast<void*>(p), 0xdd, it->second);
    c.memory.erase(it);
    std::free(reinterpret_cast<void*>(p));
    return true;
  }
  static bool inside(const std::map<DevicePointer, size_t>& all, DevicePointer p, size_t bytes) {
    auto it = all.upper_bound(p);
    if (it == all.begin()) return false;
    --it;
    return p + bytes <= it->first + it->second;
  }
  /// True for device memory. Host memory is not mapped: kernels of vyre must not read it.
  bool is_valid(const Context_& c, DevicePointer p, size_t bytes) const {
    const std::lock_guard lock(mutex);
    return inside(c.memory, p, bytes);
  }

  void enqueue(StreamHandle stream, std::function<void()> what) {
    Context_* const context = current();
    reinterpret_cast<Stream_*>(stream)->add([context, what = std::move(what)] {
      if (!context->error) what();
    });
  }

  void fill(Context_* c, const MemsetNode& n) {
    const size_t row = n.width * n.element_bytes;
    if (!is_valid(*c, n.to, n.height > 1 ? n.pitch * (n.height - 1) + row : row)) {
      c->error = int(Status::IllegalAddress);
      return;
    }
    for (size_t y = 0; y < n.height; ++y)
      for (size_t x = 0; x < n.width; ++x)
        std::memcpy(reinterpret_cast<std::byte*>(n.to) + y * n.pitch + x * n.element_bytes,
                    &n.value, n.element_bytes);
  }
  void copy(Context_* c, DevicePointer to, DevicePointer from, size_t bytes, bool check_to,
            bool check_from) {
    const bool overlap = check_to && check_from && to < from + bytes && from < to + bytes;
    if ((check_to && !is_valid(*c, to, bytes)) || (check_from && !is_valid(*c, from, bytes)) ||
        overlap) {
      c->error = int(Status::IllegalAddress);
      return;
    }
    if (bytes == sizeof(uint32_t) && to % 4 == 0) {  // a running kernel may poll it
      uint32_t value = 0;
      std::memcpy(&value, reinterpret_cast<void*>(from), sizeof value);
      reinterpret_cast<std::atomic<uint32_t>*>(to)->store(value);
      return;
    }
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
  }

  void kernel(Context_* c, const Node_& n);
  void loop_test(Context_* c, const LoopTest& t);
  void run(Context_* c, const Graph_& g);
  Status check_launch(const Function_& f, const unsigned* grid, const unsigned* block,
                      unsigned shared, bool cooperative);
  /// Registers of a thread, and bytes that are in memory for want of them.
  std::pair<int, int> registers(const Function_& f) const {
    constexpr std::string_view word = ".minnctapersm ";
    const std::string& text = f.module->text;
    const size_t at = text.find(word);
    if (at == text.npos) return {config.registers, 0};
    const int room = 65536 / (std::stoi(text.substr(at + word.size())) * f.max_threads) / 8 * 8;
    const int lost = std::max(0, config.least_registers - room);
    return {std::min(config.registers, room), lost * 4};
  }
  int occupancy(const Function_& f, int threads, size_t shared) const {
    const int by_threads = threads > 0 ? 2048 / threads : 0;
    const int by_shared = shared ? int(size_t{228 << 10} / shared) : 32;
    const int by_registers = 65536 / (std::max(1, registers(f).first) * std::max(1, threads));
    if (shared > size_t(f.dynamic_shared_limit)) return 0;
    return std::min({by_threads, by_shared, by_registers, 32});
  }

  mutable std::mutex mutex;
  Config config;
  Executor executor;
  struct Fault {
    int nth, status, times;
  };
  std::map<std::string, Fault> faults;
  std::map<std::string, uint64_t> counts;
  std::vector<std::unique_ptr<Context_>> contexts;
  bool initialized = false;
  std::map<ConditionHandle, unsigned> conditions;
  ConditionHandle next_condition = 0x1000;
};

Driver& driver();

/// The function of a handle in the current context, or null.
std::shared_ptr<Function_> function_of(FunctionHandle f);
/// Checks a launch and puts it on a stream.
Status launch_on(FunctionHandle handle, const unsigned* grid, const unsigned* block,
                 unsigned shared, StreamHandle stream, void** parameters, bool cooperative);
/// Fills a kernel node from what the driver is given.
Status set_kernel(Node_& n, const KernelNode& what);
/// Nodes must form a chain: all that the backend makes, and what running them in order relies on.
Status add_node(GraphNodeHandle* out, GraphHandle graph, const GraphNodeHandle* after, size_t count,
                std::unique_ptr<Node_> node);
std::unique_ptr<Graph_> copy_graph(const Graph_& g, std::map<Node_*, Node_*>& mine);
/// Returns the parameter bytes of an entry of the text: 64 for
/// "vyre_kernel(\n\t.param .align 8 .b8 name[64]".
size_t parameter_bytes_of(const std::string& text, const std::string& entry);
int max_threads_of(const std::string& text);

}  // namespace vyre::fake_cuda

// Every function of the driver begins with one of the last two.
#define FAKE extern "C" __attribute__((visibility("default")))
#define ENTER(name)                                                                             \
  if (const Status entered = vyre::fake_cuda::driver().enter(name); entered != Status::Success) \
    return entered;
#define ENTER_CONTEXT(name)                                                 \
  if (const Status entered = vyre::fake_cuda::driver().enter_context(name); \
      entered != Status::Success)                                           \
    return entered;
