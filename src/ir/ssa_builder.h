#pragma once

// Builds programs op by op. Mutable variables become SSA immediately: `if` merges the assignments
// of its branches, a loop carries the variables that its body touches and drops those that turn out
// not to change. The language's front end and the C++ kernel writer (ir/kernel.h) are built on it.
//
// SsaBuilder does not check types: its callers know them, and src/check checks the result.

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "ir/ir_builder.h"

namespace vyre {

using VarId = uint32_t;

class SsaBuilder : public IrBuilder {
 public:
  explicit SsaBuilder(std::string name);
  SsaBuilder(const SsaBuilder&) = delete;
  SsaBuilder& operator=(const SsaBuilder&) = delete;

  Program program;

  // Values.
  ValueId constant_u32(uint32_t v) { return constant(Type::U32, v); }
  /// load_n: `count` results.
  std::vector<ValueId> load_n(Type type, ValueId index, uint32_t count, uint64_t attr);
  void store_n(Type type, ValueId index, std::span<const ValueId> values, uint64_t attr);

  // Variables.
  VarId declare(ValueId initial);
  ValueId get(VarId v);
  void set(VarId v, ValueId value);
  Type type(ValueId v) const { return program.values[v].type; }

  // Structure. begin_while begins the test; begin_body(c) ends it and begins the body.
  void begin_if(ValueId condition);
  void begin_else();
  void end_if();
  ValueId begin_for(ValueId lo, ValueId hi, ValueId step);  // returns i
  void end_for() { end_loop(); }
  void begin_while();
  void begin_body(ValueId condition);
  void end_while() { end_loop(); }
  void begin_region(std::string_view name);
  void end_region();

  // Exits of the current block. Ops that are added after one, up to the block's end, are dropped.
  void break_loop() { leave(Opcode::Break); }
  void continue_loop() { leave(Opcode::Continue); }
  void return_();
  void trap(ValueId code);
  bool reachable() const { return reachable_; }
  bool in_loop() const { return loop_level_ > 0; }

  /// Bytes of memory in use: of the program, and of what open loops keep for their exits.
  uint64_t bytes() const;

  /// Closes the body and returns the program, compacted. All begun structures must be ended.
  Program finish();

 private:
  struct Assigned {
    VarId var;
    ValueId value;
    uint32_t stamp;  // of the enclosing branch, to return to
  };
  struct Carried {
    VarId var;
    ValueId arg;
    ValueId init;
    uint32_t level;  // the variable's loop level outside
  };
  struct Exit {
    OpId op;
    std::vector<ValueId> values;  // of the first values.size() carried variables
  };
  struct Frame {
    OpId op = none;
    BlockId outer_block = none;
    bool reachable_before = true;
    bool in_else = false;
    uint32_t outer_stamp = 0;
    std::vector<Assigned> assigned;  // in this branch, with the values before it
    std::vector<std::pair<VarId, ValueId>> then_values;
    OpId then_end = none;  // open end of the then block: its yield
    std::vector<Carried> carried;
    std::vector<Exit> exits;
  };
  struct Var {
    ValueId current;
    uint32_t level;  // the innermost loop that has an argument for it or declared it
    uint32_t stamp;  // the innermost branch that has recorded an assignment or declared it
  };

  void begin(Opcode code, std::span<const ValueId> operands, uint32_t blocks, uint64_t attr = 0);
  void enter(BlockId block);
  void touch(VarId v);
  void leave(Opcode code);
  OpId close_arm(std::vector<std::pair<VarId, ValueId>>* values);
  void seal();
  void end_loop();
  Frame& loop_frame(uint32_t level);
  ValueId find(ValueId v);
  void assign_results(OpId op, const std::vector<VarId>& vars, const std::vector<Type>& types);

  bool reachable_ = true;
  uint32_t loop_level_ = 0;
  uint32_t stamp_ = 0;
  uint32_t next_stamp_ = 0;
  std::vector<Frame> frames_;
  std::vector<uint32_t> loops_;  // frame index of each loop level, from 1
  std::vector<Var> vars_;
  IdMap<ValueId, ValueId> forward_;
  uint64_t exit_values_ = 0;  // in the frames of open loops
};

}  // namespace vyre
