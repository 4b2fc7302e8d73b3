// Reads a kernel body in IR form, as the printer prints it: one op per line, directly into a
// Program. No recursion: open blocks are a stack.

#include <fmt/format.h>

#include <unordered_map>

#include "ir/ir_builder.h"
#include "ir/stats.h"
#include "text/lower/kernel_lowering.h"
#include "text/lower/literal.h"
#include "text/parser.h"

namespace vyre::text {
namespace {

struct Stop {};  // one malformed line ends the body: later lines depend on its values

class IrReader {
 public:
  IrReader(ModuleContext& context, const Decl& decl, Program& p)
      : context_(context), ast_(context.ast), p_(p), at_(decl.ir_body) {
    p_.blocks.clear();
    p_.add_block(none);
    for (const BufferId i : p_.buffers.ids()) buffers_.emplace(p_.buffers[i].name, i);
  }

  void run() {
    expect(Tok::LBrace);
    open_.push_back({none, 0, body_block});
    while (true) {
      while (is(Tok::Newline) || is(Tok::Semicolon)) ++at_;
      if (is(Tok::End))
        fail(Code::UnclosedBlock, "the kernel's body is not closed", "add the missing `}`");
      if (is(Tok::RBrace)) {
        if (close()) return;
        continue;
      }
      check_size();
      line();
    }
  }

 private:
  void check_size() {
    const ParseOptions& limits = context_.options;
    if (context_.budget.due()) context_.budget.check(context_.kept_bytes + memory_of(p_));
    const bool too_large = p_.ops.size() > limits.max_ops;
    if (!too_large && context_.expanded_ops + p_.ops.size() <= limits.max_module_ops) return;
    context_.ended = true;
    if (too_large)
      fail(Code::ProgramTooLarge,
           fmt::format("the program has more than {} operations", limits.max_ops),
           "split it into several kernels");
    fail(Code::ProgramTooLarge,
         fmt::format("the kernels of the module have more than {} operations",
                     limits.max_module_ops),
         "split it into several files");
  }

  struct Open {
    OpId op;
    uint32_t block;  // which block of the op is being read
    BlockId id;
  };

  // ---- Tokens.
  const Token& token() const { return ast_.tokens[at_]; }
  bool is(Tok k) const { return token().kind == k; }
  bool is_word(std::string_view w) const { return is(Tok::Ident) && ast_.text(at_) == w; }
  bool accept(Tok k) { return is(k) ? ++at_, true : false; }
  bool accept_word(std::string_view w) { return is_word(w) ? ++at_, true : false; }
  [[noreturn]] void fail(Code code, std::string message, std::string fix) {
    context_.error(at_, code, std::move(message)).with_fix(std::move(fix));
    throw Stop{};
  }
  void expect(Tok k) {
    if (!accept(k))
      fail(Code::MalformedOp,
           fmt::format("expected {}, found {}", describe(k), describe(token().kind)),
           "write one operation a line: `%7 = add %5, %6 : u32`");
  }
  void end_line() {
    if (!is(Tok::Newline) && !is(Tok::Semicolon) && !is(Tok::RBrace))
      fail(Code::MalformedOp,
           fmt::format("expected the end of the line, found {}", describe(token().kind)),
           "write one operation a line");
  }
  LocId loc(TokenId t) {
    const Token& k = ast_.tokens[t];
    if (file_ == none || k.file != file_index_)
      file_ = p_.add_string(ast_.files[k.file].name), file_index_ = k.file;
    return p_.add_location({file_, k.line, k.column, k.length, none});
  }

  // ---- Values.
  uint64_t number() {
    expect(Tok::Percent);
    if (!is(Tok::Integer) || token().offset != ast_.tokens[at_ - 1].offset + 1)
      fail(Code::MalformedOp, "a value is `%` and a number", "write `%7`");
    const auto n = parse_integer(ast_.text(at_));
    if (!n) fail(Code::MalformedOp, "a value is `%` and a number", "write `%7`");
    ++at_;
    return *n;
  }
  ValueId use() {
    const TokenId t = at_;
    const uint64_t n = number();
    const auto it = values_.find(n);
    if (it == values_.end()) {
      at_ = t;
      fail(Code::UndefinedValue, fmt::format("%{} is not defined before this line", n),
           "define it first");
    }
    return it->second;
  }
  void name(uint64_t n, ValueId v, TokenId t) {
    if (values_.emplace(n, v).second) return;
    at_ = t;
    fail(Code::RedefinedValue, fmt::format("%{} is defined twice", n), "give it another number");
  }
  Type type() {
    const auto t = is(Tok::Ident) ? find_type(ast_.text(at_)) : std::nullopt;
    if (!t) fail(Code::UnknownType, "expected a type", "write a type such as `u32`");
    ++at_;
    return *t;
  }
  BufferId buffer() {
    const auto it = is(Tok::Ident) ? buffers_.find(std::string(ast_.text(at_))) : buffers_.end();
    if (it == buffers_.end())
      fail(Code::UnknownName, "expected the name of a buffer",
           "name a parameter, array or table of the kernel");
    ++at_;
    return it->second;
  }

  // ---- Lines.
  struct Result {
    uint64_t number;
    TokenId token;
  };

  void line() {
    if (open_.size() > max_nesting + 1)
      fail(Code::NestingTooDeep, fmt::format("nested more than {} deep", max_nesting),
           "use fewer nested blocks");
    std::vector<Result> results;
    const TokenId first = at_;
    if (is(Tok::Percent)) {
      do {
        const TokenId t = at_;
        results.push_back({number(), t});
      } while (accept(Tok::Comma));
      expect(Tok::Assign);
    }
    if (!is(Tok::Ident))
      fail(Code::MalformedOp,
           fmt::format("expected an operation, found {}", describe(token().kind)),
           "write one operation a line");
    if (results.empty() && declaration()) return;
    const TokenId op_token = at_;
    const Opcode* code = find_op(ast_.text(at_));
    if (!code) {
      std::vector<std::string> names;
      for (const OpInfo& i : all_ops()) names.emplace_back(i.mnemonic);
      const auto near = nearest(ast_.text(at_), names);
      fail(Code::UnknownOp, fmt::format("there is no operation `{}`", ast_.text(at_).substr(0, 60)),
           near.empty() ? "write an operation of the IR" : fmt::format("did you mean `{}`?", near));
    }
    ++at_;
    if (is_control(*code)) return control(*code, results, first);
    operation(*code, results, first, op_token);
    end_line();
  }

  /// shared, var and const lines at the top of the body.
  bool declaration() {
    const bool shared = is_word("shared"), array = is_word("var"), table = is_word("const");
    if (!shared && !array && !table) return false;
    const TokenId start = at_++;
    const TokenId name_token = at_;
    expect(Tok::Ident);
    expect(Tok::Colon);
    Buffer b;
    b.name = std::string(ast_.text(name_token));
    b.role = shared ? Role::Shared : array ? Role::Private : Role::Table;
    b.element = type();
    b.loc = loc(start);
    expect(Tok::LBracket);
    const auto n = is(Tok::Integer) ? parse_integer(ast_.text(at_)) : std::nullopt;
    if (!n) fail(Code::NotConstant, "the length must be a number", "write digits");
    ++at_;
    expect(Tok::RBracket);
    b.count = p_.formulas.constant(*n);
    if (table) {
      b.table_offset = p_.table_bytes.size();
      expect(Tok::Assign);
      if (!accept_word("bytes"))
        fail(Code::MalformedOp, "expected `bytes(…)`", "write the table's bytes");
      expect(Tok::LParen);
      uint64_t bytes = 0;
      while (is(Tok::Integer)) {
        const auto v = parse_integer(ast_.text(at_));
        if (!v || *v > 255)
          fail(Code::LiteralDoesNotFit, "a byte is 0 to 255", "write a smaller number");
        p_.table_bytes.push_back(std::byte(*v));
        ++bytes;
        ++at_;
        if (!accept(Tok::Comma)) break;
      }
      expect(Tok::RParen);
      if (size_of(b.element) == 0 || bytes / size_of(b.element) != *n || bytes % size_of(b.element))
        fail(Code::TableLength,
             fmt::format("the table is declared with {} elements and has {} bytes", *n, bytes),
             "give whole elements");
    }
    if (!buffers_.emplace(b.name, p_.buffers.next_id()).second)
      fail(Code::DuplicateName, fmt::format("`{}` is declared twice", b.name),
           "rename one of them");
    p_.buffers.push_back(std::move(b));
    end_line();
    return true;
  }

  void finish(Opcode code, Type type, const std::vector<ValueId>& operands,
              const std::vector<Type>& types, uint64_t attr, const std::vector<Result>& results,
              TokenId first) {
    if (results.size() != types.size()) {
      at_ = first;
      fail(Code::MalformedOp,
           fmt::format("`{}` has {} result{} here, not {}", mnemonic(code), types.size(),
                       types.size() == 1 ? "" : "s", results.size()),
           "name each result once, on the left of `=`");
    }
    b_.at_end(open_.back().id);
    b_.loc = loc(first);
    const OpId id = b_.add(code, type, operands, types, attr);
    for (size_t i = 0; i < results.size(); ++i)
      name(results[i].number, p_.result(id, uint32_t(i)), results[i].token);
  }

  void operation(Opcode code, const std::vector<Result>& results, TokenId first, TokenId op_token) {
    const OpInfo& row = info(code);
    uint64_t attr = 0;
    std::vector<ValueId> operands;
    switch (row.attribute) {
      case AttrKind::Bits: return constant(code, results, first);
      case AttrKind::Dim: {
        expect(Tok::Dot);
        const std::string_view c = is(Tok::Ident) ? ast_.text(at_) : std::string_view();
        if (c != "x" && c != "y" && c != "z")
          fail(Code::UnknownComponent, "expected a component", "write `.x`, `.y` or `.z`");
        attr = uint64_t(c[0] - 'x');
        ++at_;
        break;
      }
      case AttrKind::Buffer: attr = buffer().value(); break;
      case AttrKind::Memory: return memory(code, results, first);
      case AttrKind::Scope: {
        const std::string_view w = is(Tok::Ident) ? ast_.text(at_) : std::string_view();
        if (w == "subgroup")
          attr = uint64_t(Scope::Subgroup);
        else if (w == "workgroup")
          attr = uint64_t(Scope::Workgroup);
        else if (w == "grid")
          attr = uint64_t(Scope::Grid);
        else
          fail(Code::UnknownScope, "expected a scope", "write `subgroup`, `workgroup` or `grid`");
        ++at_;
        break;
      }
      case AttrKind::Name:
      case AttrKind::None: break;
    }
    while (is(Tok::Percent)) {
      operands.push_back(use());
      if (!accept(Tok::Comma)) break;
    }
    if (row.operands != "?" && operands.size() != row.operands.size()) {
      at_ = op_token;
      fail(Code::WrongArgumentCount,
           fmt::format("`{}` takes {} operands, not {}", row.mnemonic, row.operands.size(),
                       operands.size()),
           "give one value for each operand");
    }
    Type t = Type::Void;
    if (accept(Tok::Colon)) t = type();
    std::vector<Type> types;
    if (const Type r = result_type(row.result, t); r != Type::Void)
      types.push_back(r);
    else if (row.result == 'T')
      fail(Code::MalformedOp, "the type of the operation is missing",
           "write it behind a colon: `: u32`");
    finish(code, t, operands, types, attr, results, first);
  }

  void constant(Opcode code, const std::vector<Result>& results, TokenId first) {
    const TokenId begin = at_;
    const bool negative = accept(Tok::Minus);
    std::string text(negative ? "-" : "");
    bool bits_form = false;
    if (accept_word("bits")) {
      bits_form = true;
      expect(Tok::LParen);
      text = std::string(ast_.text(at_++));
      expect(Tok::RParen);
    } else {
      text += ast_.text(at_);
      if (!is(Tok::Integer) && !is(Tok::Float) && !is(Tok::Ident))
        fail(Code::MalformedOp, "expected a constant", "write a number, `true` or `false`");
      ++at_;
    }
    expect(Tok::Colon);
    const Type t = type();
    uint64_t bits = 0;
    bool ok = is_value(t);
    if (ok && bits_form) {
      const auto v = parse_integer(text);
      ok = is_float(t) && v && *v <= low_mask(width_of(t));
      if (ok) bits = *v;
    } else if (ok) {
      ok = parse_value(text, t, &bits);
    }
    if (!ok) {
      at_ = begin;
      fail(Code::LiteralDoesNotFit,
           fmt::format("`{}` is no constant of {}", text.substr(0, 40), vyre::name(t)),
           "write a value of that type");
    }
    finish(code, t, {}, {t}, bits, results, first);
  }

  void memory(Opcode code, const std::vector<Result>& results, TokenId first) {
    const OpInfo& row = info(code);
    MemoryRef m;
    m.buffer = buffer();
    const Buffer& b = p_.buffers[m.buffer];
    m.scope = row.effect == Effect::Atomic  ? Scope::Grid
              : code == Opcode::UniformLoad ? Scope::Workgroup
                                            : Scope::Grid;
    expect(Tok::LBracket);
    std::vector<ValueId> operands = {use()};
    expect(Tok::RBracket);
    while (accept(Tok::Comma)) operands.push_back(use());
    while (is(Tok::Ident)) {
      if (accept_word("acq_rel"))
        m.acq_rel = true;
      else if (accept_word("workgroup"))
        m.scope = Scope::Workgroup;
      else if (accept_word("grid"))
        m.scope = Scope::Grid;
      else if (accept_word("in_bounds"))
        m.in_bounds = context_.options.trusted;
      else if (accept_word("read_only"))
        m.read_only = context_.options.trusted;
      else if (accept_word("align")) {
        expect(Tok::LParen);
        const auto v = is(Tok::Integer) ? parse_integer(ast_.text(at_)) : std::nullopt;
        if (!v || !std::has_single_bit(*v) || *v > 4096)
          fail(Code::MalformedOp, "an alignment is a power of two", "write `align(16)`");
        ++at_;
        expect(Tok::RParen);
        if (context_.options.trusted) m.align_log2 = uint8_t(std::countr_zero(*v));
      } else {
        fail(Code::AtomicOption,
             fmt::format("`{}` is no option of a memory operation", ast_.text(at_).substr(0, 40)),
             "options are acq_rel, workgroup, grid, in_bounds, read_only, align(n)");
      }
    }
    Type t = value_type(b.element);
    if (accept(Tok::Colon)) t = type();
    const size_t need = row.operands.size();
    const bool any = row.operands.find('*') != std::string_view::npos;
    if (any ? operands.size() < 2 : operands.size() != need)
      fail(Code::WrongArgumentCount, fmt::format("`{}` takes {} values", row.mnemonic, need - 1),
           "give the index in brackets, then the values");
    std::vector<Type> types;
    if (row.result == '*')
      types.assign(results.size(), t);
    else if (row.result != '-')
      types.push_back(t);
    finish(code, t, operands, types, m.pack(), results, first);
  }

  // ---- Blocks.
  void control(Opcode code, const std::vector<Result>& results, TokenId first) {
    std::vector<ValueId> operands;
    std::vector<Result> args;
    uint64_t attr = 0;
    if (code == Opcode::If) operands.push_back(use());
    if (code == Opcode::Region) {
      const TokenId t = at_;
      expect(Tok::String);
      attr = p_.add_string(unquote(ast_.text(t)));
    }
    if (code == Opcode::For) {
      const TokenId t = at_;
      args.push_back({number(), t});
      if (!accept_word("in"))
        fail(Code::MalformedOp, "expected `in`", "write `for %i in %lo..%hi step %s {`");
      operands.push_back(use());
      expect(Tok::DotDot);
      operands.push_back(use());
      if (!accept_word("step"))
        fail(Code::MalformedOp, "expected `step`", "write `for %i in %lo..%hi step %s {`");
      operands.push_back(use());
    }
    if (is_loop(code) && accept_word("with")) {
      do {
        const TokenId t = at_;
        args.push_back({number(), t});
        expect(Tok::Assign);
        operands.push_back(use());
      } while (accept(Tok::Comma));
    }
    std::vector<Type> types;
    if (accept(Tok::Colon)) {
      do types.push_back(type());
      while (accept(Tok::Comma));
    }
    const size_t carried = args.size() - (code == Opcode::For);
    if (is_loop(code) && types.size() != carried)
      fail(Code::MalformedOp, fmt::format("{} carried values with {} types", carried, types.size()),
           "give a type for each carried value, behind a colon");
    expect(Tok::LBrace);
    finish(code, Type::Void, operands, types, attr, results, first);
    const OpId id = OpId(p_.ops.size() - 1);
    const uint32_t blocks = code == Opcode::If || code == Opcode::While ? 2 : 1;
    const BlockId header = b_.add_blocks(id, blocks);
    for (size_t i = 0; i < args.size(); ++i) {
      const Type t =
          code == Opcode::For ? (i == 0 ? p_.type(operands[0]) : types[i - 1]) : types[i];
      name(args[i].number, p_.add_argument(header, t), args[i].token);
    }
    open_.push_back({id, 0, header});
  }

  /// An implicit end: a yield without values, or the return of the body.
  void seal(BlockId b) {
    const OpId last = p_.blocks[b].last;
    if (last != none && is_exit(p_.op(last).code)) return;
    b_.at_end(b);
    b_.loc = loc(at_);
    b_.exit(b == body_block ? Opcode::Return : Opcode::Yield);
  }

  /// At a `}`. True if it was the body's.
  bool close() {
    Open& o = open_.back();
    if (o.op == none) {
      seal(body_block);
      return true;
    }
    const Op op = p_.op(o.op);  // a copy: seal() adds ops
    if (op.code != Opcode::While || o.block == 1) seal(o.id);
    ++at_;
    const bool second = o.block + 1 < op.n_blocks &&
                        (op.code == Opcode::While ? accept_word("do") : accept_word("else"));
    if (second) {
      expect(Tok::LBrace);
      ++o.block;
      o.id = op.first_block + o.block;
      return false;
    }
    if (op.code == Opcode::While && o.block == 0)
      fail(Code::MalformedOp, "the test of a `while` is followed by `do {`", "write `} do {`");
    if (op.code == Opcode::If && o.block == 0) seal(op.first_block + 1);
    open_.pop_back();
    return false;
  }

  ModuleContext& context_;
  Ast& ast_;
  Program& p_;
  IrBuilder b_{p_};
  TokenId at_;
  std::unordered_map<uint64_t, ValueId> values_;
  std::unordered_map<std::string, BufferId> buffers_;
  std::vector<Open> open_;
  StringId file_ = none;
  uint16_t file_index_ = 0;
};

}  // namespace

void read_ir_body(ModuleContext& context, const Decl& decl, Program& program) {
  try {
    IrReader(context, decl, program).run();
    compact(program);
  } catch (Stop) {  // reported
  }
}

}  // namespace vyre::text
