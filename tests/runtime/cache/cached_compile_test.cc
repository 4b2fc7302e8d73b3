// labels: threads
// Device::compile and the cache: with a backend whose code is the text of its program.

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "runtime/cache/cache.h"
#include "tests/runtime/cache/cache_util.h"
#include "tests/runtime/driver_util.h"
#include "text/print.h"

namespace vyre::driver {
namespace {

/// Code that contains its program: launches compare it with the program to run.
struct ToyKernel : CompiledKernel {
  std::string code;
  std::shared_ptr<CompiledKernel> inner;
  bool serializes = true;
  std::vector<std::byte> serialize() const override {
    if (!serializes) return {};
    const auto bytes = std::as_bytes(std::span(code));
    return {bytes.begin(), bytes.end()};
  }
};

std::string code_of_program(Program p) {
  p.name = "";
  for (auto& b : p.buffers) b.name = "";
  return print(p);
}

class Toy : public Backend {
 public:
  std::atomic<int> compiled{0}, loaded{0}, wrong{0};
  bool serializes = true, loads = true, splits = false;

  std::string_view name() const override { return "toy"; }
  std::string_view summary() const override { return "code that can be kept"; }
  std::vector<DeviceInfo> probe(std::string*) override { return {info()}; }
  Result<std::unique_ptr<BackendDevice>> open(uint32_t) override {
    return std::unique_ptr<BackendDevice>(
        std::make_unique<ToyDevice>(*this, std::move(*choose("interp")->backend->open(0))));
  }
  DeviceInfo info() const {
    DeviceInfo i = choose("interp")->backend->probe(nullptr)[0];
    i.backend = i.target = "toy";
    i.keeps_code = true;
    i.limits.native_grid_barrier = !splits;
    return i;
  }

 private:
  struct ToyDevice : BackendDevice {
    Toy& owner;
    std::unique_ptr<BackendDevice> inner;
    const DeviceInfo info_;
    ToyDevice(Toy& t, std::unique_ptr<BackendDevice> i)
        : owner(t), inner(std::move(i)), info_(t.info()) {}
    const DeviceInfo& info() const override { return info_; }
    Result<MemoryHandle> allocate(uint64_t n) override { return inner->allocate(n); }
    void release(MemoryHandle m) override { inner->release(m); }
    std::shared_ptr<ToyKernel> make(std::shared_ptr<const Program> p, const CompileOptions& o) {
      auto k = std::make_shared<ToyKernel>();
      k->code = code_of_program(*p);
      k->serializes = owner.serializes;
      k->inner = *inner->compile(p, o);
      k->subgroup_size = k->inner->subgroup_size;
      return k;
    }
    Result<std::shared_ptr<CompiledKernel>> compile(std::shared_ptr<const Program> p,
                                                    const CompileOptions& o) override {
      ++owner.compiled;
      return std::shared_ptr<CompiledKernel>(make(p, o));
    }
    std::shared_ptr<CompiledKernel> load_kernel(std::shared_ptr<const Program> p,
                                                const CompileOptions& o,
                                                std::span<const std::byte> bytes) override {
      if (!owner.loads) return nullptr;
      ++owner.loaded;
      auto k = make(p, o);
      k->code.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return k;
    }
    Result<SubmissionHandle> submit(
        uint32_t s, std::vector<DeviceCommand> commands, std::span<const SubmissionHandle> a,
        std::optional<std::chrono::steady_clock::time_point> d) override {
      for (DeviceCommand& c : commands) {
        auto* const launch = c.as<DeviceLaunch>();
        if (!launch) continue;
        const auto& k = static_cast<const ToyKernel&>(*launch->kernel);
        if (k.code != code_of_program(*launch->program)) ++owner.wrong;
        launch->kernel = k.inner;
      }
      return inner->submit(s, std::move(commands), a, d);
    }
    bool is_done(SubmissionHandle h) override { return inner->is_done(h); }
    SubmissionOutcome wait(SubmissionHandle h) override { return inner->wait(h); }
  };
};

class CachedCompile : public CacheTest {
 protected:
  Device open(CompileCache& cache) {
    OpenOptions o;
    o.cache = &cache;
    return *Device::open(toy_, 0, o);
  }
  U run_it(Device& d, const Executable& e) {
    U y(64, 3), x(64, 9);
    const Buffer a = *d.allocate(256), b = *d.allocate(256);
    EXPECT_TRUE(d.submit({Upload{a, in(x)}, Upload{b, in(y)}, Launch{e, {a, b}, {}, true},
                          Readback{b, out(y)}})
                    ->wait());
    EXPECT_TRUE(d.free(a) && d.free(b));
    return y;
  }
  Toy toy_;
};

TEST_F(CachedCompile, comes_from_the_compiler_then_memory_then_disk) {
  CompileCache cache(options());
  Device d = open(cache);
  const Executable first = *d.compile(program_);
  EXPECT_EQ(first.origin(), "compiled");
  const Executable second = *d.compile(program_);
  EXPECT_EQ(second.origin(), "memory cache");
  EXPECT_EQ(toy_.compiled, 1);
  EXPECT_EQ(toy_.loaded, 0) << "a kernel that is alive is used again";
  EXPECT_EQ(run_it(d, second), U(64, 1));

  Device other = open(cache);  // its kernels are its own
  EXPECT_EQ(other.compile(program_)->origin(), "memory cache");
  EXPECT_EQ(toy_.loaded, 1);

  CompileCache next(options());  // another process
  Device later = open(next);
  const Executable third = *later.compile(program_);
  EXPECT_EQ(third.origin(), "disk cache");
  EXPECT_EQ(later.compile(program_)->origin(), "memory cache");
  EXPECT_EQ(run_it(later, third), U(64, 1));
  EXPECT_EQ(toy_.compiled, 1);
  EXPECT_EQ(toy_.wrong, 0);
}

TEST_F(CachedCompile, a_kernel_that_nobody_has_any_more_is_loaded_again) {
  CompileCache cache(options());
  Device d = open(cache);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(d.compile(program_));
  EXPECT_EQ(toy_.compiled, 1);
  EXPECT_EQ(toy_.loaded, 2);
}

TEST_F(CachedCompile, a_hit_has_the_names_of_the_program_that_asked) {
  CompileCache cache(options());
  Device d = open(cache);
  const Executable first = *d.compile(program_);
  Program renamed = program_;
  renamed.name = "other";
  const Executable second = *d.compile(renamed);
  EXPECT_EQ(second.origin(), "memory cache");
  EXPECT_EQ(second.program().name, "other");
  EXPECT_EQ(first.program().name, "toy");
}

TEST_F(CachedCompile, programs_that_differ_a_little_never_share_code) {
  CompileCache cache(options());
  Device d = open(cache);
  std::vector<Executable> kept;
  for (const Program& p :
       {toy_program(1), toy_program(2), toy_program(1, 65), toy_program(1, 64, true)}) {
    kept.push_back(*d.compile(p));
    EXPECT_EQ(kept.back().origin(), "compiled");
  }
  CompileOptions other;
  other.subgroup_size = 8;
  EXPECT_EQ(d.compile(program_, other)->origin(), "compiled");
  other = {};
  other.extra = {"schedule=reverse"};
  EXPECT_EQ(d.compile(program_, other)->origin(), "compiled");
  EXPECT_EQ(run_it(d, kept[0]), U(64, 1));
  EXPECT_EQ(run_it(d, kept[1]), U(64, 2));
  EXPECT_EQ(toy_.wrong, 0);
}

TEST_F(CachedCompile, a_damaged_entry_is_compiled_anew) {
  CompileCache cache(options());
  {
    Device d = open(cache);
    ASSERT_TRUE(d.compile(program_));
  }
  for (const auto& file : std::filesystem::directory_iterator(entries())) {
    if (file.path().extension() != ".vyc") continue;
    std::fstream f(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(100);
    f.put('\x55');
  }
  CompileCache next(options());
  Device d = open(next);
  EXPECT_EQ(d.compile(program_)->origin(), "compiled");
  EXPECT_EQ(next.stats().bad_entries, 1u);
  EXPECT_EQ(d.compile(program_)->origin(), "memory cache");
}

TEST_F(CachedCompile, code_that_the_backend_does_not_take_is_compiled_anew) {
  CompileCache cache(options());
  Device d = open(cache);
  ASSERT_TRUE(d.compile(program_));
  toy_.loads = false;
  EXPECT_EQ(d.compile(program_)->origin(), "compiled");
  EXPECT_EQ(toy_.compiled, 2);
}

TEST_F(CachedCompile, code_that_is_not_kept_and_a_cache_that_is_not_wanted) {
  CompileCache cache(options());
  toy_.serializes = false;
  Device d = open(cache);
  const Executable e = *d.compile(program_);
  EXPECT_EQ(d.compile(program_)->origin(), "compiled");
  EXPECT_EQ(cache.stats().stores, 0u);
  toy_.serializes = true;
  OpenOptions o;
  o.cache = &cache;
  o.use_cache = false;
  Device without = *Device::open(toy_, 0, o);
  ASSERT_TRUE(without.compile(program_));
  EXPECT_EQ(cache.stats().stores, 0u);
}

TEST_F(CachedCompile, every_segment_of_a_split_program_is_kept) {
  toy_.splits = true;
  const Program p = kernel(
      "kernel k(x: in u32[], y: inout u32[]) workgroup(64) grid(len(y)) { y[global_id.x] += 1\n "
      "barrier grid\n y[global_id.x] += x[0] }");
  CompileCache cache(options());
  Device d = open(cache);
  EXPECT_EQ(d.compile(p)->origin(), "compiled");
  EXPECT_EQ(toy_.compiled, 2);
  CompileCache next(options());
  Device later = open(next);
  const Executable e = *later.compile(p);
  EXPECT_EQ(e.origin(), "disk cache");
  EXPECT_EQ(e.segments(), 2u);
  EXPECT_EQ(toy_.compiled, 2);
  EXPECT_EQ(run_it(later, e), U(64, 13));
  EXPECT_EQ(toy_.wrong, 0);
}

TEST_F(CachedCompile, many_threads_compile_the_same) {
  CompileCache cache(options());
  Device d = open(cache);
  std::vector<std::thread> threads;
  std::atomic<int> failed = 0;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&] {
      for (uint32_t i = 0; i < 50; ++i) {
        const Result<Executable> e = d.compile(toy_program(i % 5));
        if (!e) ++failed;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(failed, 0);
  EXPECT_LE(toy_.compiled, 20);
}

}  // namespace
}  // namespace vyre::driver
