#pragma once

// Names that a body binds: parameters, variables, arrays, local constants. One table per module, so
// that lowering a kernel or a constant costs nothing for the names of other declarations.
//
// Bodies nest strictly: the caller of a function and the user of a constant are suspended
// meanwhile. Names belong to a call; those of other calls are hidden.

#include <cstdint>
#include <vector>

#include "ir/program.h"
#include "text/ast.h"

namespace vyre::text {

struct Constant {
  Type type = Type::Void;  // Void: failed, reported
  uint64_t bits = 0;
};

enum class BindingKind : uint8_t { Let, Var, Buffer, Const };

struct Binding {
  BindingKind kind = BindingKind::Let;
  uint32_t symbol = 0;
  uint32_t id = none;    // value, variable or buffer
  Role role = Role::In;  // a buffer as seen here: a fn must not write through its `in` parameter
  Constant constant;
  bool counter = false;      // a loop's counter
  uint32_t call = 0;         // the call it belongs to
  uint32_t block = 0;        // the block it was declared in
  uint32_t previous = none;  // binding of the same symbol outside
  TokenId declared = 0;
};

class Scopes {
 public:
  /// Sets the number of symbols. Nothing is bound.
  void reset(size_t symbols) { top_.assign(symbols, none); }

  void open() { scopes_.push_back(uint32_t(bindings_.size())); }
  void close() {
    drop(scopes_.back());
    scopes_.pop_back();
  }
  /// The number of open scopes. close_to() closes those opened since, also after an error.
  size_t depth() const { return scopes_.size(); }
  void close_to(size_t depth) {
    while (scopes_.size() > depth) close();
  }

  /// Returns a number that no other call of the module has.
  uint32_t new_call() { return ++calls_; }

  /// The innermost binding of a symbol in `call`, which must be the call being lowered; null if
  /// there is none. All newer bindings belong to that call, so the newest one decides.
  const Binding* find(uint32_t symbol, uint32_t call) const {
    const uint32_t i = symbol < top_.size() ? top_[symbol] : none;
    return i != none && bindings_[i].call == call ? &bindings_[i] : nullptr;
  }

  /// Binds b.symbol in the innermost scope. Sets b.block and b.previous.
  void bind(Binding b) {
    b.block = uint32_t(scopes_.size());
    b.previous = top_[b.symbol];
    top_[b.symbol] = uint32_t(bindings_.size());
    bindings_.push_back(b);
  }

  /// Applies fn(symbol) to the names of `call`, the call being lowered. A hidden name counts too.
  template <class Fn>
  void each(uint32_t call, Fn&& fn) const {
    for (size_t i = bindings_.size(); i-- > 0 && bindings_[i].call == call;)
      fn(bindings_[i].symbol);
  }

 private:
  void drop(size_t size) {
    while (bindings_.size() > size) {
      top_[bindings_.back().symbol] = bindings_.back().previous;
      bindings_.pop_back();
    }
  }

  std::vector<Binding> bindings_;
  std::vector<uint32_t> top_;  // by symbol: innermost binding, or none
  std::vector<uint32_t> scopes_;
  uint32_t calls_ = 0;
};

}  // namespace vyre::text
