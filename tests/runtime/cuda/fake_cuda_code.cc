// The driver's functions: code, launches and graphs.

#include "runtime/cuda/fake_driver.h"

using namespace vyre::fake_cuda;
using namespace vyre::driver::cuda;

static constexpr std::string_view cubin_magic = "FAKECUBIN\n";

FAKE Status cuModuleLoadDataEx(ModuleHandle* module, const void* image, unsigned, JitOption*,
                               void**) {
  ENTER_CONTEXT("cuModuleLoadDataEx")
  std::string text = static_cast<const char*>(image);
  if (text.starts_with(cubin_magic))
    text.erase(0, cubin_magic.size());
  else if (!text.starts_with(".version"))
    return Status::InvalidImage;
  auto m = std::make_shared<Module_>();
  m->text = std::move(text);
  *module = reinterpret_cast<ModuleHandle>(m.get());
  const std::lock_guard lock(driver().mutex);
  driver().current()->modules[*module] = std::move(m);
  return Status::Success;
}
FAKE Status cuModuleUnload(ModuleHandle module) {
  ENTER_CONTEXT("cuModuleUnload")
  const std::lock_guard lock(driver().mutex);
  Context_& c = *driver().current();
  const auto it = c.modules.find(module);
  if (it == c.modules.end()) return Status::InvalidValue;
  std::erase_if(c.functions, [&](const auto& f) { return f.second->module == it->second; });
  c.modules.erase(it);
  return Status::Success;
}
FAKE Status cuModuleGetFunction(FunctionHandle* function, ModuleHandle module, const char* name) {
  ENTER_CONTEXT("cuModuleGetFunction")
  const std::lock_guard lock(driver().mutex);
  const auto& m = driver().current()->modules.at(module);
  auto f = std::make_shared<Function_>();
  f->module = m;
  f->entry = name;
  f->parameter_bytes = parameter_bytes_of(m->text, name);
  f->max_threads = max_threads_of(m->text);
  if (!f->parameter_bytes) return Status::NotFound;
  *function = reinterpret_cast<FunctionHandle>(f.get());
  driver().current()->functions[*function] = std::move(f);
  return Status::Success;
}
FAKE Status cuLinkCreate_v2(unsigned options, JitOption* keys, void** values, LinkHandle* link) {
  ENTER_CONTEXT("cuLinkCreate")
  auto* const l = new Link_();
  for (unsigned i = 0; i < options; ++i) {
    if (keys[i] == JitOption::ErrorLog) l->log = static_cast<char*>(values[i]);
    if (keys[i] == JitOption::ErrorLogBytes) l->log_bytes = reinterpret_cast<size_t>(values[i]);
  }
  *link = reinterpret_cast<LinkHandle>(l);
  const std::lock_guard lock(driver().mutex);
  driver().current()->links.insert(l);
  return Status::Success;
}
FAKE Status cuLinkAddData_v2(LinkHandle link, int, void* data, size_t, const char*, unsigned,
                             JitOption*, void**) {
  ENTER_CONTEXT("cuLinkAddData")
  auto* const l = reinterpret_cast<Link_*>(link);
  l->text = static_cast<const char*>(data);
  if (driver().config.jit_status) {
    if (l->log) std::snprintf(l->log, l->log_bytes, "%s", driver().config.jit_log.c_str());
    return Status(driver().config.jit_status);
  }
  return Status::Success;
}
FAKE Status cuLinkComplete(LinkHandle link, void** cubin, size_t* bytes) {
  ENTER_CONTEXT("cuLinkComplete")
  auto* const l = reinterpret_cast<Link_*>(link);
  l->output = std::string(cubin_magic) + l->text;
  *cubin = l->output.data();
  *bytes = l->output.size() + 1;
  return Status::Success;
}
FAKE Status cuLinkDestroy(LinkHandle link) {
  ENTER_CONTEXT("cuLinkDestroy")
  auto* const l = reinterpret_cast<Link_*>(link);
  {
    const std::lock_guard lock(driver().mutex);
    if (!driver().current()->links.erase(l)) return Status::InvalidValue;
  }
  delete l;
  return Status::Success;
}
FAKE Status cuFuncSetAttribute(FunctionHandle function, int key, int value) {
  ENTER_CONTEXT("cuFuncSetAttribute")
  if (key != function_max_dynamic_shared_bytes) return Status::InvalidValue;
  const int most = driver().config.devices[size_t(driver().current()->ordinal)].shared_bytes_optin;
  if (value > most) return Status::InvalidValue;
  function_of(function)->dynamic_shared_limit = value;
  return Status::Success;
}
FAKE Status cuFuncGetAttribute(int* value, int key, FunctionHandle function) {
  ENTER_CONTEXT("cuFuncGetAttribute")
  const auto [registers, spilled] = driver().registers(*function_of(function));
  *value = key == function_registers ? registers : key == function_local_bytes ? spilled : 0;
  return Status::Success;
}
FAKE Status cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, FunctionHandle function,
                                                        int threads, size_t shared) {
  ENTER_CONTEXT("cuOccupancyMaxActiveBlocksPerMultiprocessor")
  *blocks = driver().occupancy(*function_of(function), threads, shared);
  return Status::Success;
}
FAKE Status cuLaunchKernel(FunctionHandle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                           unsigned by, unsigned bz, unsigned shared, StreamHandle stream,
                           void** parameters, void**) {
  ENTER_CONTEXT("cuLaunchKernel")
  const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  return launch_on(f, grid, block, shared, stream, parameters, false);
}
FAKE Status cuLaunchCooperativeKernel(FunctionHandle f, unsigned gx, unsigned gy, unsigned gz,
                                      unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                      StreamHandle stream, void** parameters) {
  ENTER_CONTEXT("cuLaunchCooperativeKernel")
  const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  return launch_on(f, grid, block, shared, stream, parameters, true);
}

// Graphs.

FAKE Status cuGraphCreate(GraphHandle* graph, unsigned) {
  ENTER_CONTEXT("cuGraphCreate")
  auto* const made = new Graph_();
  *graph = reinterpret_cast<GraphHandle>(made);
  const std::lock_guard lock(driver().mutex);
  driver().current()->graphs.insert(made);
  return Status::Success;
}
FAKE Status cuGraphDestroy(GraphHandle graph) {
  ENTER_CONTEXT("cuGraphDestroy")
  auto* const made = reinterpret_cast<Graph_*>(graph);
  {
    const std::lock_guard lock(driver().mutex);
    if (!driver().current()->graphs.erase(made)) return Status::InvalidValue;
  }
  delete made;
  return Status::Success;
}
FAKE Status cuGraphAddKernelNode_v2(GraphNodeHandle* node, GraphHandle graph,
                                    const GraphNodeHandle* after, size_t count,
                                    const KernelNode* what) {
  ENTER_CONTEXT("cuGraphAddKernelNode")
  auto n = std::make_unique<Node_>();
  if (const Status s = set_kernel(*n, *what); s != Status::Success) return s;
  return add_node(node, graph, after, count, std::move(n));
}
FAKE Status cuGraphAddMemsetNode(GraphNodeHandle* node, GraphHandle graph,
                                 const GraphNodeHandle* after, size_t count, const MemsetNode* what,
                                 ContextHandle) {
  ENTER_CONTEXT("cuGraphAddMemsetNode")
  auto n = std::make_unique<Node_>();
  n->kind = Node_::Kind::Memset;
  n->memset = *what;
  return add_node(node, graph, after, count, std::move(n));
}
FAKE Status cuGraphAddMemcpyNode(GraphNodeHandle* node, GraphHandle graph,
                                 const GraphNodeHandle* after, size_t count, const CopyNode* what,
                                 ContextHandle) {
  ENTER_CONTEXT("cuGraphAddMemcpyNode")
  auto n = std::make_unique<Node_>();
  n->kind = Node_::Kind::Copy;
  n->copy = *what;
  return add_node(node, graph, after, count, std::move(n));
}
FAKE Status cuGraphKernelNodeSetAttribute(GraphNodeHandle node, int key,
                                          const KernelNodeAttribute* value) {
  ENTER_CONTEXT("cuGraphKernelNodeSetAttribute")
  if (key != kernel_node_cooperative) return Status::InvalidValue;
  reinterpret_cast<Node_*>(node)->cooperative = value->cooperative != 0;
  return Status::Success;
}
FAKE Status cuGraphInstantiateWithFlags(GraphExecHandle* exec, GraphHandle graph,
                                        unsigned long long) {
  ENTER_CONTEXT("cuGraphInstantiate")
  auto* const e = new Exec_();
  e->graph = copy_graph(*reinterpret_cast<Graph_*>(graph), e->mine);
  *exec = reinterpret_cast<GraphExecHandle>(e);
  const std::lock_guard lock(driver().mutex);
  driver().current()->execs.insert(e);
  return Status::Success;
}
FAKE Status cuGraphExecDestroy(GraphExecHandle exec) {
  ENTER_CONTEXT("cuGraphExecDestroy")
  auto* const e = reinterpret_cast<Exec_*>(exec);
  {
    const std::lock_guard lock(driver().mutex);
    if (!driver().current()->execs.erase(e)) return Status::InvalidValue;
  }
  delete e;
  return Status::Success;
}
FAKE Status cuGraphLaunch(GraphExecHandle exec, StreamHandle stream) {
  ENTER_CONTEXT("cuGraphLaunch")
  auto* const e = reinterpret_cast<Exec_*>(exec);
  Context_* const c = driver().current();
  // A launch runs a copy of the graph as it is now; later updates affect later launches only.
  std::map<Node_*, Node_*> unused;
  const std::shared_ptr<Graph_> now = copy_graph(*e->graph, unused);
  driver().enqueue(stream, [c, now] { driver().run(c, *now); });
  return Status::Success;
}
FAKE Status cuGraphUpload(GraphExecHandle, StreamHandle) {
  ENTER_CONTEXT("cuGraphUpload")
  return Status::Success;
}
FAKE Status cuGraphExecKernelNodeSetParams_v2(GraphExecHandle exec, GraphNodeHandle node,
                                              const KernelNode* what) {
  ENTER_CONTEXT("cuGraphExecKernelNodeSetParams")
  return set_kernel(*reinterpret_cast<Exec_*>(exec)->mine.at(reinterpret_cast<Node_*>(node)),
                    *what);
}
FAKE Status cuGraphExecMemsetNodeSetParams(GraphExecHandle exec, GraphNodeHandle node,
                                           const MemsetNode* what, ContextHandle) {
  ENTER_CONTEXT("cuGraphExecMemsetNodeSetParams")
  reinterpret_cast<Exec_*>(exec)->mine.at(reinterpret_cast<Node_*>(node))->memset = *what;
  return Status::Success;
}
FAKE Status cuGraphExecMemcpyNodeSetParams(GraphExecHandle exec, GraphNodeHandle node,
                                           const CopyNode* what, ContextHandle) {
  ENTER_CONTEXT("cuGraphExecMemcpyNodeSetParams")
  reinterpret_cast<Exec_*>(exec)->mine.at(reinterpret_cast<Node_*>(node))->copy = *what;
  return Status::Success;
}
FAKE Status cuGraphConditionalHandleCreate(ConditionHandle* handle, GraphHandle, ContextHandle,
                                           unsigned initial, unsigned) {
  ENTER_CONTEXT("cuGraphConditionalHandleCreate")
  const std::lock_guard lock(driver().mutex);
  *handle = ++driver().next_condition;
  driver().conditions[*handle] = initial;
  return Status::Success;
}
FAKE Status cuGraphAddNode_v2(GraphNodeHandle* node, GraphHandle graph,
                              const GraphNodeHandle* after, const void*, size_t count,
                              ConditionalNode* what) {
  ENTER_CONTEXT("cuGraphAddNode")
  if (what->type != node_type_conditional || what->condition != condition_while ||
      what->graphs != 1)
    return Status::InvalidValue;
  auto* const g = reinterpret_cast<Graph_*>(graph);
  g->bodies.push_back(std::make_unique<Graph_>());
  auto n = std::make_unique<Node_>();
  n->kind = Node_::Kind::While;
  n->condition = what->handle;
  n->body = g->bodies.back().get();
  what->bodies = reinterpret_cast<GraphHandle*>(&g->bodies.back()->self);
  return add_node(node, graph, after, count, std::move(n));
}
