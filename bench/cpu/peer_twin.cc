#include <cstring>

#include "cpu_host_memory.h"
#include "cpu_peers.h"

namespace bench {

struct TwinMemory {
  std::vector<HostMemory> owned;
  std::vector<void*> buffers;
  std::vector<uint64_t> bytes;
  std::vector<uint32_t> scalars;
};

std::shared_ptr<TwinMemory> twin_memory(const Case& c) {
  auto m = std::make_shared<TwinMemory>();
  for (const auto& buffer : c.buffers) {
    m->owned.push_back(host_memory(buffer.size()));
    if (!m->owned.back()) fail("out of memory");
    m->buffers.push_back(m->owned.back().get());
    m->bytes.push_back(buffer.size());
  }
  for (const Parameter& p : c.parameters)
    if (p.kind == Parameter::Kind::Scalar) m->scalars.push_back(p.scalar);
  return m;
}

namespace {

class TwinPeer : public Peer {
 public:
  TwinPeer(const Case& c, std::shared_ptr<TwinMemory> memory, Twin twin)
      : case_(c), memory_(std::move(memory)), twin_(twin) {}

  void reset() override {
    for (size_t i = 0; i < case_.buffers.size(); ++i)
      std::memcpy(memory_->buffers[i], case_.buffers[i].data(), case_.buffers[i].size());
  }
  void launch() override {
    twin_({memory_->buffers.data(), memory_->bytes.data(), memory_->scalars.data()});
  }
  std::vector<std::byte> read(size_t buffer) override {
    const auto* begin = static_cast<const std::byte*>(memory_->buffers[buffer]);
    return {begin, begin + memory_->bytes[buffer]};
  }

 private:
  const Case& case_;
  std::shared_ptr<TwinMemory> memory_;
  Twin twin_;
};

}  // namespace

std::unique_ptr<Peer> twin_peer(const Case& c, std::shared_ptr<TwinMemory> memory, Twin twin) {
  return std::make_unique<TwinPeer>(c, std::move(memory), twin);
}

}  // namespace bench
