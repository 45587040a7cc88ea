// The walk over one kernel's AST. Internal to the elaborator; the interface is Elaborate.h.
// Its methods are defined by concern: Sema/{BindParameters,Signature,Contracts,Attributes}.cpp for
// what stands before the body, Lower/Lower*.cpp for the body.
#ifndef TILE_FRONTEND_LOWER_ELABORATOR_H
#define TILE_FRONTEND_LOWER_ELABORATOR_H

#include "dialect/Tile/TileDialect.h"
#include "frontend/Lower/Elaborate.h"
#include "frontend/Lower/Flow.h"
#include "frontend/Lower/Emitted.h"
#include "frontend/Sema/Modules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

#include <set>

namespace tile {

/// A choice of values for the compile-time parameters of a kernel, in their order.
struct Instance {
  std::vector<SemValue> values;
  std::string symbol;
};

/// One version of an instance: its facts hold beyond the kernel's own contracts, and dispatch looks
/// at them first.
struct Variant {
  /// From the command line.
  std::string name;
  std::vector<ArgItem> items;
  /// From the source: a clause, and for each of its contracts which listed value is meant.
  const ast::SpecializeClause *clause = nullptr;
  std::vector<size_t> choice;
  /// Which of the tuned configurations it has; none where there is but one.
  std::optional<size_t> tuned;

  bool isGeneric() const { return !clause && name.empty(); }
};

/// An evaluated argument with the place it was written at.
struct Arg {
  SemValue value;
  Range range;
  std::string name; // of a named argument
};

/// An access x[...] that has been checked: what tile.load, tile.store, tile.inside and those with
/// index tiles share.
struct AccessSpec {
  const ViewValue *view = nullptr;
  std::shared_ptr<const ViewValue> keepAlive;
  llvm::SmallVector<mlir::Value> starts, ends;
  llvm::SmallVector<int64_t> sizes, steps;
  llvm::SmallVector<bool> hasEnd, inBounds;
  llvm::SmallVector<int64_t> shape;         // of the tile; empty for one element
  llvm::SmallVector<mlir::Value> positions; // index tiles of this shape, for each size of -2
  Range range;
};

/// What a loop counts: itself, or its trips.
struct LoopBounds {
  mlir::Value low, high, step;
  /// The first position and the distance to the next; null where the counter is the position.
  mlir::Value first, stride;
};

/// Trips of a loop over constants; nothing where they are 2^64.
std::optional<uint64_t> countTrips(int64_t low, int64_t high, int64_t step, bool inclusive);

class Elaborator {
public:
  Elaborator(const Modules &modules, const ast::KernelDecl &kernel, const ElaborateOptions &options,
             DiagnosticEngine &diagnostics, mlir::ModuleOp module);
  ~Elaborator();

  /// The instances to make, in order. Empty after an error.
  std::vector<Instance> chooseInstances();
  /// What the kernel's `tune` clause spans. None after an error.
  std::optional<TuneSpace> readTuneSpace();
  /// The values that the arguments of a launch bind in this instance, as -D spells them.
  std::vector<std::pair<std::string, std::string>> listDeduced(const Instance &instance);
  /// True if the source has a configuration of its own for the target.
  bool hasConfig() { return chooseConfig() != nullptr; }
  /// Emits one instance at the end of the module and fills `record`. False after an error.
  bool elaborateInstance(const Instance &instance, const Variant &variant, runtime::Kernel &record);
  /// After a failure: nothing is wrong, but the command line rules the variant out.
  bool isRuledOut() const { return impossible; }
  /// What `specialize` asks for, in source order. None after an error.
  std::optional<std::vector<Variant>> listVariants();
  /// The parameters that the instance elaborated last writes.
  const std::set<const ast::Param *> &getWritten() const { return written; }

private:
  //===--- Names ----------------------------------------------------------===//
  struct Binding {
    SemValue value;
    bool isVar = false;
    Range declared;
    const ast::Expr *initial = nullptr; // of a `let` or `var` of one name
    Range keyword = Range();            // the `let` of a `let` statement
  };
  using Scope = std::map<std::string, Binding>;
  /// One function's scopes, innermost last. The first frame is the kernel's.
  using Frame = std::vector<Scope>;
  struct CallSite {
    const ast::FnDecl *function;
    Range call;
  };

  Binding *findLocal(llvm::StringRef name);
  /// Ends the innermost scope; its names are kept for messages.
  void leaveBlock();
  /// Declares a local; reports a name that hides anything but a built-in.
  void declare(const ast::Ident &name, SemValue value, bool isVar = false);
  SemValue evalName(llvm::StringRef name, Range range);
  SemValue evalConstant(const ast::ConstDecl &decl);
  SemValue evalDecl(const ast::Decl &decl, Range range);
  /// The module that `expr` names, an import with `as`; null for any other expression.
  const Module *findImport(const ast::Expr &expr);
  /// `n.NAME` of such a module; reports a name that it does not declare.
  SemValue evalImported(const Module &imported, const ast::MemberExpr &expr);
  /// A function by its name, perhaps behind an import's: "gelu", "act.gelu". None if there is no
  /// such function.
  std::optional<FunctionValue> findFunction(llvm::StringRef name);
  /// `target.kind` and `target.arch`.
  SemValue evalTarget(const ast::MemberExpr &expr);
  std::vector<std::string> visibleNames() const;

  //===--- Diagnostics and locations --------------------------------------===//
  /// Starts a diagnostic with a note for each call around.
  template <typename... Args>
  DiagnosticBuilder error(diag::ID id, Range range, const Args &...args) {
    ++reported;
    DiagnosticBuilder report = diagnostics.report(id, range, args...);
    constexpr ptrdiff_t shownCalls = 8;
    for (auto call = calls.rbegin(); call != calls.rend() && call - calls.rbegin() < shownCalls;
         ++call)
      report.note(call->call, "in this call of '" + call->function->name.text + "'");
    return report;
  }
  /// Reports that `what` is refused for now.
  SemValue reportUnsupported(Range range, const llvm::Twine &what) {
    error(diag::comesLater, range, what.str());
    return SemValue::error();
  }
  DiagnosticBuilder &addSuggestion(DiagnosticBuilder &report, Range range, llvm::StringRef name,
                                   const std::vector<std::string> &candidates);
  mlir::Location loc(Range range);
  Range argumentName(const Arg &arg) const;
  void reportArgument(const Arg &arg, const llvm::Twine &callee,
                      const std::vector<std::string> &names, Range declared);
  /// Adds how to begin a `var` that began as an integer and meets floats.
  bool addVarFix(DiagnosticBuilder &report, const Arg &arg, DType wanted);
  /// Says how the positions of an index tile are written as a range, where they are one.
  bool addRangeFix(DiagnosticBuilder &report, const ast::Expr &subscript);

  // What is right in another language (ForeignCode.cpp). The report…s return whether they reported.
  bool isForeignMember(const ast::MemberExpr &expr);
  SemValue reportPrefixed(const ast::MemberExpr &expr, const ast::CallExpr *call);
  bool reportMethod(const ast::CallExpr &call, const ast::MemberExpr &callee);
  /// A call that does what the method does elsewhere; empty if there is none.
  std::string rewriteMethod(const ast::CallExpr &call, const ast::MemberExpr &callee,
                            const SemValue &base);
  /// `p + offsets` where an access is wanted.
  bool reportPointerSum(const ast::Expr &expr, llvm::StringRef function);
  /// -1 among the extents of `reshape`.
  bool reportOpenExtent(const Arg &arg, llvm::ArrayRef<int64_t> shape);
  /// Says how a view made by lo..hi, which a `let` names, is written as a tile.
  void addViewHint(DiagnosticBuilder &report, Range range);
  /// What stands there, in brackets where an operator could tear it apart.
  std::string operandText(Range range) const;
  bool reportRangeLoop(const ast::ForStmt &stmt);
  /// Reports an assignment to a name that nothing declares, and declares it for what follows.
  void declareAssigned(const ast::NameExpr &target, const SemValue &value);
  /// `t[mask] = v` on a tile.
  void addTileStoreFix(DiagnosticBuilder &report, const ast::AssignStmt &stmt,
                       const ast::SubscriptExpr &access, const SemValue &base);
  /// Does `+=` or its like follow?
  bool isAssigned(Range range) const;
  void addAccumulatorFix(DiagnosticBuilder &report, const Arg &arg, DType wanted);
  /// `as dtype` behind what stands at `range`.
  void addConversion(DiagnosticBuilder &report, Range range, DType dtype);
  /// The dtype that `f16`, "float16", `torch.float16` or a parameter names; empty if none.
  std::string dtypeWord(llvm::StringRef text);
  std::string textOf(const ast::Expr &expr) const;

  //===--- Compile-time parameters, signature, contracts, attributes ------===//
  void bindFrom(size_t index, Instance &partial, std::vector<Instance> &out);
  std::optional<std::vector<SemValue>> candidatesFor(const ast::StaticParam &param, bool &suffixed);
  std::optional<SemValue> parseDefine(const ast::StaticParam &param, llvm::StringRef text);
  /// The values of a set of compile-time values; an interval gives each of its integers.
  std::optional<std::vector<SemValue>> evalSet(const ast::ValueSet &set, Range range);
  bool isInSet(const SemValue &value, const ast::ValueSet &set, Range range);
  /// The step of an interval, 1 where none is written. None, after an error, unless it is positive.
  std::optional<int64_t> evalStep(const ast::ValueSet &set);
  /// Is the expression made of compile-time parameters, so that -D may change its value?
  bool usesStatics(const ast::Expr &expr) const;
  bool checkKind(const ast::StaticParam &param, SemValue &value, Range range);
  bool isDeducible(const ast::StaticParam &param, bool &fromDtype);
  std::optional<SemValue> deduce(const ast::StaticParam &param);
  const ast::TuneItem *chooseConfig();
  bool fitsTarget(const ast::TuneItem &item) const;
  std::optional<TuneConfig> readSettings(const ast::TuneItem &item);
  std::map<std::string, std::string> resolveConfig(const TuneConfig &settings);
  std::optional<SemValue> bindSetting(const ast::StaticParam &param, const std::string *text);
  const std::string *findRequested(llvm::StringRef name) const;
  void applyRequested(llvm::SmallVectorImpl<mlir::NamedAttribute> &out,
                      std::set<std::string> &seen);
  void declareConfig(const std::vector<std::pair<const ast::TuneItem *, SemValue>> &values);
  /// What --config pins `name` to; null if it does not.
  const std::string *findPinned(llvm::StringRef name) const;

  bool readSignature(runtime::Kernel &record);
  bool readTensor(const ast::Param &param, runtime::Param &out);
  /// The length of an array of tensors. None after an error.
  std::optional<int64_t> readCount(const ast::Param &param);
  /// The declaration behind a parameter of the ABI, which may be one tensor of an array.
  const ast::Param &declOf(const runtime::Param &param) const;
  bool readScalar(const ast::Param &param, runtime::Param &out);
  void collectDimensions();
  /// The name that a dimension of the form `name + c`, `name - c` or `c * name` binds; null for
  /// other forms.
  const ast::NameExpr *boundByForm(const ast::Expr &expr);
  bool isFreeName(const ast::NameExpr &name);
  bool readContracts(runtime::Kernel &record);
  bool readContract(const ast::Contract &contract, runtime::Kernel &record);
  bool readRange(const ast::Contract &contract, const std::string &name, runtime::Kernel &record);
  bool readCall(const ast::Contract &contract, const ast::CallExpr &call, runtime::Kernel &record);
  // Facts of variants and of the command line (Sema/Variants.cpp). `isDispatched`: the launcher
  // chooses by them; else they are contracts.
  struct FactSource {
    std::string text;
    Range range; // invalid on the command line
    bool isDispatched;
  };
  bool applyItem(const ArgItem &item, bool isDispatched, runtime::Kernel &record);
  bool applyVariant(const Variant &variant, runtime::Kernel &record);
  bool applyTuned(size_t choice, runtime::Kernel &record);
  bool applySpecialize(const ast::Contract &contract, size_t choice, runtime::Kernel &record,
                       std::string &name);
  bool narrow(const std::string &name, int64_t min, int64_t max, std::optional<int64_t> opt,
              const FactSource &source, runtime::Kernel &record);
  bool fix(const std::string &name, int64_t value, const FactSource &source,
           runtime::Kernel &record);
  bool divide(const std::string &name, int64_t divisor, const FactSource &source,
              runtime::Kernel &record);
  bool raiseAlignment(const std::string &name, int64_t bytes, const FactSource &source,
                      runtime::Kernel &record);
  void addCondition(runtime::Expr condition, const FactSource &source, runtime::Kernel &record);
  bool failFact(const FactSource &source, const llvm::Twine &message, Range second = Range());
  bool conflict(const FactSource &source, const llvm::Twine &message, Range second);
  bool readGrid(runtime::Kernel &record);
  bool readKernelAttributes(llvm::SmallVectorImpl<mlir::NamedAttribute> &out);
  void addPreferred(const std::set<std::string> &seen,
                    llvm::SmallVectorImpl<mlir::NamedAttribute> &out);
  bool checkTune();
  bool checkTuneKeys();
  /// Warns of contracts that the `opt` values of the names in them break.
  void checkHints(const runtime::Kernel &record);
  bool readLoopAttributes(const std::vector<ast::Attribute> &attributes,
                          llvm::SmallVectorImpl<mlir::NamedAttribute> &out);
  void readSplit(const ast::Attribute &attribute, llvm::SmallVectorImpl<mlir::NamedAttribute> &out);
  std::optional<int64_t> attributeInt(const ast::Attribute &attribute, size_t index, int64_t min,
                                      int64_t max);
  /// Does the expression use a dimension, stride or scalar parameter, whose value is known at
  /// launch only?
  bool usesLaunchNames(const ast::Expr &expr) const;
  /// Does it use a parameter that this instance does not have, or a dimension that only such a
  /// parameter binds?
  bool usesDropped(const ast::Expr &expr) const;
  /// An expression as the launcher computes it; constant parts become integers.
  std::optional<runtime::Expr> toLaunchExpr(const ast::Expr &expr, bool isCondition = false);
  /// The same of any dtype, which `dtype` receives: none for what is known at compile time.
  std::optional<runtime::Expr> toLaunchExpr(const ast::Expr &expr, std::optional<DType> &dtype);
  std::optional<runtime::Expr> toLaunchBinary(const ast::BinaryExpr &expr,
                                              std::optional<DType> &dtype);
  /// Reports operands of a contract that do not mix; else their common dtype is in `a`.
  bool unifyLaunch(std::optional<DType> &a, runtime::Expr &x, Range aRange, std::optional<DType> b,
                   runtime::Expr &y, Range bRange, llvm::StringRef what, Range range);
  std::optional<runtime::Constant> toConstant(const SemValue &value, DType dtype, Range range);

  //===--- Emission -------------------------------------------------------===//
  mlir::Value constant(mlir::TypedAttr value, mlir::Location location);
  mlir::Value constantIndex(int64_t value, mlir::Location location);
  mlir::Value constantLike(mlir::Type type, double value, mlir::Location location);
  /// A scalar or splat of an integer type in which only the top bit is set.
  mlir::Value signBitLike(mlir::Type type, mlir::Location location);
  /// `expr` over the values of `launchValues`, as index arithmetic.
  mlir::Value emitLaunchExpr(const runtime::Expr &expr, mlir::Location location);
  void emitGrid(KernelOp op, const runtime::Kernel &record);
  void emitBody(KernelOp op, const runtime::Kernel &record);
  void emitLaunchValues(mlir::Block &block, const runtime::Kernel &record, KernelOp op);
  SemValue emitView(const runtime::Param &param, const ast::Param &decl, mlir::Value pointer);

  // Operands of one emission have one dtype, `dtype`.
  mlir::Value emitDivision(mlir::Value a, mlir::Value b, DType dtype, bool remainder,
                           mlir::Location location);
  mlir::Value emitCeilDivision(mlir::Value a, mlir::Value b, DType dtype, mlir::Location location);
  mlir::Value emitMulHigh(mlir::Value a, mlir::Value b, DType dtype, mlir::Location location);
  mlir::Value emitNextPow2(mlir::Value x, DType dtype, mlir::Location location);
  mlir::Value emitMinMax(bool isMax, mlir::Value a, mlir::Value b, DType dtype,
                         mlir::Location location);
  mlir::Value emitSaturatingCast(mlir::Value x, DType to, mlir::Location location);
  mlir::Value emitCast(mlir::Value x, DType from, DType to, mlir::Location location);
  mlir::Value emitShift(ast::BinaryOp op, mlir::Value a, mlir::Value b, DType dtype,
                        mlir::Location location);
  mlir::Value emitBinary(ast::BinaryOp op, mlir::Value a, mlir::Value b, DType dtype,
                         mlir::Location location);
  mlir::Value emitBroadcast(mlir::Value x, llvm::ArrayRef<int64_t> shape, mlir::Location location);
  mlir::Value emitReshape(mlir::Value x, llvm::ArrayRef<int64_t> shape, mlir::Location location);

  //===--- Expressions ----------------------------------------------------===//
  SemValue eval(const ast::Expr &expr);
  SemValue evalAny(const ast::Expr &expr);
  SemValue evalUnary(const ast::UnaryExpr &expr);
  SemValue evalBinary(const ast::BinaryExpr &expr);
  SemValue binary(ast::BinaryOp op, SemValue a, SemValue b, Range aRange, Range bRange, Range range,
                  Range opRange = Range());
  SemValue shiftRange(ast::BinaryOp op, const SemValue &a, const SemValue &b, Range bRange,
                      Range range);
  /// `position` as it is where it is sure to be at most `farthest` from 0, else the nearest such.
  mlir::Value emitBounded(mlir::Value position, int64_t farthest, mlir::Location location);
  /// A position moved by a distance, neither of which counts as further than `farthestPosition`.
  SemValue movePosition(ast::BinaryOp op, const SemValue &position, const SemValue &by,
                        Range byRange, Range range);
  SemValue startOfBlock(const Arg &number, int64_t size, Range range);
  SemValue endOfRange(const RangeValue &range, Range place);
  SemValue evalCast(const ast::CastExpr &expr);
  SemValue castTo(const SemValue &value, DType to, Range range);
  SemValue evalMember(const ast::MemberExpr &expr);
  SemValue evalSubscript(const ast::SubscriptExpr &expr);

  /// A compile-time number at a dtype, or a value that has it already; integers widen to index.
  /// Null after an error.
  mlir::Value toDtype(const SemValue &value, DType dtype, Range range);
  /// A value as SSA: numbers without a dtype become index, f32 or bool. An error after an error.
  SemValue toData(const SemValue &value, Range range);
  /// Reports that `what` does not take the dtype, if it is one that only stores. True if so.
  bool refuseStorage(DType dtype, Range range, const llvm::Twine &what);
  /// An int or integer scalar as an index scalar. Null after an error, which names `what`.
  mlir::Value toIndex(const SemValue &value, Range range, const llvm::Twine &what);
  /// Brings numeric values to one dtype. False after an error.
  bool unifyDtypes(llvm::MutableArrayRef<Arg> args, const llvm::Twine &what, Range range);
  /// Brings SSA values to one shape. False after an error.
  bool unifyShapes(llvm::MutableArrayRef<Arg> args, Range range);
  std::optional<int64_t> evalInt(const ast::Expr &expr, const llvm::Twine &what);
  std::optional<int64_t> constInt(const SemValue &value, Range range, const llvm::Twine &what);
  /// Of a `const if`: a compile-time bool, or whether a tensor exists.
  std::optional<bool> evalConstCondition(const ast::Expr &expr);
  std::optional<bool> constBool(const SemValue &value, const ast::Expr &expr,
                                const llvm::Twine &what);
  /// Reports the use of a tensor that does not exist. True if so.
  bool refuseNone(const SemValue &value, Range range);
  std::optional<bool> evalConstBool(const ast::Expr &expr, const llvm::Twine &what);
  std::optional<DType> resolveDtype(const ast::Ident &name);
  std::optional<llvm::SmallVector<int64_t>> evalShape(const Arg &arg);
  std::optional<llvm::SmallVector<int64_t>> evalPermutation(const Arg &arg, int64_t rank);
  bool checkShape(llvm::ArrayRef<int64_t> shape, Range range);
  /// A list of numbers, perhaps nested, as a constant tile. Without `dtype` floats are f32, ints
  /// index. An error after one.
  SemValue listToTile(const SemValue &list, std::optional<DType> dtype, Range range);
  /// Makes constant tiles of the lists among operands, at the dtype of the first operand that has
  /// one. False after an error.
  bool listsToTiles(llvm::MutableArrayRef<Arg> args);
  /// `tile` at positions, an i32 or index scalar or tile, clamped; null where `tile` is no constant
  /// tile of rank 1.
  mlir::Value emitTableLookup(const SemValue &tile, mlir::Value position, mlir::Location location);
  /// One element of a constant tile at compile-time positions; void where `tile` is none or a
  /// position is not constant.
  SemValue evalTableElement(const SemValue &tile, const ast::SubscriptExpr &expr);
  /// A value at a declared type `f32`, `int`, `f32[BM, BN]`.
  SemValue convertToDeclared(SemValue value, const ast::TypeSpec &type, Range range);

  //===--- Accesses -------------------------------------------------------===//
  SemValue evalView(const SemValue &base, const ast::SubscriptExpr &expr);
  SemValue evalSubview(const SemValue &base, const ast::SubscriptExpr &expr);
  /// The extent of a view's dimension: of an emptied view what it would be with all elements.
  SemValue extentOf(const ViewValue &view, unsigned dim, mlir::Location location);
  SemValue evalTileSubscript(const SemValue &base, const ast::SubscriptExpr &expr);
  SemValue evalTupleElement(const SemValue &base, const ast::SubscriptExpr &expr);
  /// `takesTiles`: subscripts may be tiles of positions.
  std::optional<AccessSpec> makeAccess(const SemValue &base, const ast::SubscriptExpr &expr,
                                       bool takesTiles = false);
  /// The access that a call such as load(x[...]) takes first.
  std::optional<AccessSpec> evalAccessArgument(const ast::Expr &expr, llvm::StringRef function,
                                               bool takesTiles = false);
  /// Brings tiles of positions to the shape of the access; their joint shape goes to dimension
  /// `at`.
  bool joinPositions(AccessSpec &access, llvm::MutableArrayRef<Arg> tiles, size_t at);
  static bool isFullAccess(const ViewValue &view, const ast::SubscriptExpr &expr);
  SemValue emitLoad(const AccessSpec &access, mlir::Value pad, mlir::Value mask,
                    mlir::StringAttr cache);
  bool emitStore(const AccessSpec &access, const Arg &value, mlir::Value mask,
                 mlir::StringAttr cache);
  /// What is to be written through an access, at its dtype and shape. Null after an error.
  mlir::Value valueToStore(const AccessSpec &access, const Arg &value);
  /// False, after an error, if the parameter may not be written.
  bool checkWritable(const AccessSpec &access);
  SemValue emitAtomic(const Builtin &builtin, const AccessSpec &access, llvm::ArrayRef<Arg> args,
                      mlir::Value mask);
  mlir::Type accessType(const AccessSpec &access, DType dtype);
  mlir::Value toPosition(const SemValue &value, mlir::Location location);

  //===--- Calls ----------------------------------------------------------===//
  SemValue evalCall(const ast::CallExpr &expr);
  SemValue callFunction(const FunctionValue &function, std::vector<Arg> args, Range range);
  SemValue callBuiltin(const Builtin &builtin, const ast::CallExpr *expr, std::vector<Arg> args,
                       Range range);
  bool checkBuiltinArguments(const Builtin &builtin, const std::vector<Arg> &args, Range range);
  SemValue callAccessForm(const Builtin &builtin, const ast::CallExpr &expr);
  SemValue callUnary(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callBinary(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callElement(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callWhere(std::vector<Arg> &args, Range range);
  SemValue callReduce(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callShape(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callScan(const Builtin &builtin, std::vector<Arg> &args, Range range);
  /// The region of a scan or reduction of tiles of one shape; `combine` gets the left and then the
  /// right scalars. False after an error, which names `what`.
  bool emitCombiner(mlir::Region &region, llvm::StringRef what, llvm::ArrayRef<SemValue> tiles,
                    Range range, llvm::function_ref<SemValue(llvm::ArrayRef<SemValue>)> combine);
  SemValue emitScan(llvm::ArrayRef<SemValue> tiles, int64_t axis, bool reverse,
                    llvm::StringRef what, Range range,
                    llvm::function_ref<SemValue(llvm::ArrayRef<SemValue>)> combine);
  SemValue emitReduceBy(llvm::ArrayRef<SemValue> tiles, int64_t axis, bool keep, Range range,
                        llvm::function_ref<SemValue(llvm::ArrayRef<SemValue>)> combine);
  /// concat, stack, repeat, flip.
  SemValue callJoin(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callConcat(bool isStack, std::vector<Arg> &args, Range range);
  /// sort, topk, histogram.
  SemValue callOrder(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callSort(std::vector<Arg> &args, Range range);
  SemValue callTopk(std::vector<Arg> &args, Range range);
  SemValue callHistogram(std::vector<Arg> &args, Range range);
  /// Integers of 8, 16, 32 or 64 bits whose signed order is the order wanted of `tile`: NaN last,
  /// 0.0 and -0.0 equal.
  mlir::Value emitSortKeys(const SemValue &tile, bool descending, mlir::Location location);
  /// For integer keys in any order, the positions along `axis` of the first `count` in ascending
  /// order, ties by position.
  mlir::Value emitSortedPositions(mlir::Value keys, int64_t axis, int64_t count,
                                  mlir::Location location);
  /// The same for i32 or i64 keys that leave room for a position above them.
  mlir::Value emitPacked(mlir::Value keys, int64_t axis, int64_t count, mlir::Location location);
  /// Elements of `tile` along `axis` at `positions`, a tile of its rank.
  mlir::Value emitTakeAlong(mlir::Value tile, mlir::Value positions, int64_t axis,
                            mlir::Location location);
  /// 0, 1, 2, ... along `axis` of a tile of that shape, i32.
  mlir::Value emitPositions(llvm::ArrayRef<int64_t> shape, int64_t axis, mlir::Location location);
  SemValue callTake(std::vector<Arg> &args, Range range);
  SemValue callRandom(const Builtin &builtin, std::vector<Arg> &args, Range range);
  /// The random words of a tile or scalar of positions, as u32 without a sign in MLIR's type.
  mlir::Value emitRandomBits(mlir::Value seed, mlir::Value position, mlir::Location location);
  mlir::Value emitUniform(mlir::Value bits, mlir::Location location);
  mlir::Value emitNormal(mlir::Value seed, mlir::Value position, mlir::Location location);
  SemValue emitRandInt(mlir::Value bits, llvm::MutableArrayRef<Arg> bounds, Range range);
  /// The `axis:` among `args`; a tile of rank 1 needs none.
  std::optional<int64_t> evalAxis(const std::vector<Arg> &args, const SemValue &tile,
                                  Range tileRange);
  SemValue callView(std::vector<Arg> &args, Range range);
  std::optional<llvm::SmallVector<mlir::Value>> indexList(const Arg &arg, const llvm::Twine &what);
  SemValue callRange(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callOther(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callDot(std::vector<Arg> &args, Range range);
  SemValue callDebug(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callPrint(std::vector<Arg> &args, Range range);
  /// With ElaborateOptions::probes: a probe of the value that `name` has from here on, or,
  /// without a name, before a statement. What is no number is passed over.
  void probe(llvm::StringRef name, const SemValue &value, Range range);
  SemValue callAssert(std::vector<Arg> &args, Range range);
  SemValue callPtx(std::vector<Arg> &args, Range range);
  SemValue permuted(const SemValue &value, llvm::ArrayRef<int64_t> permutation, Range range);

  //===--- Statements -----------------------------------------------------===//
  /// Walks a block in a new scope. `isKernelBody`: loops in it may be split.
  Flow lowerBlock(const ast::Block &block, const FlowNeeds &needs, bool isKernelBody = false);
  Flow lowerStatements(llvm::ArrayRef<ast::StmtPtr> statements, const FlowNeeds &needs,
                       bool isKernelBody);
  Flow lowerStatement(const ast::Stmt &stmt, const FlowNeeds &needs);
  /// Statements after some that flow so.
  Flow lowerRest(Flow before, llvm::ArrayRef<ast::StmtPtr> rest, const FlowNeeds &needs,
                 bool isKernelBody);
  /// `rest`, which may assign `vars`, where `before` says at run time that control is still there.
  Flow lowerUnlessLeft(const Flow &before, const FlowNeeds &needs, std::vector<Binding *> vars,
                       Range range, llvm::function_ref<Flow()> rest);
  void lowerLet(const ast::LetStmt &stmt);
  void lowerAssign(const ast::AssignStmt &stmt);
  void assignName(const ast::Expr &target, SemValue value, Range range);
  Flow lowerIf(const ast::IfStmt &stmt, const FlowNeeds &needs);
  /// An `if` at run time out of which control may leave, and what follows it.
  Flow lowerLeavingIf(const ast::IfStmt &stmt, llvm::ArrayRef<ast::StmtPtr> rest,
                      const FlowNeeds &needs, bool isKernelBody);
  /// An `if` whose two blocks are yet to be filled and ended (joinBranches).
  mlir::scf::IfOp beginBranches(mlir::Value condition, mlir::Location location);
  struct BranchEnd {
    Flow flow;
    std::vector<SemValue> values; // of the variables
  };
  /// Ends both branches; `vars`, flags and what is returned become results.
  Flow joinBranches(mlir::scf::IfOp branches, llvm::ArrayRef<Binding *> vars, BranchEnd first,
                    BranchEnd second, const FlowNeeds &needs);
  /// What the `return`s of two branches, which end in `blocks`, give together; `leaves` receives
  /// the SSA values of each, in the order of replaceLeaves. Zero stands for what a branch does not
  /// give.
  SemValue joinReturns(const Flow &a, const Flow &b, llvm::ArrayRef<mlir::Block *> blocks,
                       llvm::MutableArrayRef<llvm::SmallVector<mlir::Value>> leaves);
  std::optional<SemValue> joinValues(llvm::ArrayRef<const SemValue *> values,
                                     llvm::ArrayRef<mlir::Block *> blocks, Range range,
                                     llvm::MutableArrayRef<llvm::SmallVector<mlir::Value>> leaves);
  static SemValue replaceLeaves(const SemValue &value, mlir::ValueRange leaves);
  mlir::Value emitFlag(const Exit &exit, mlir::Location location);
  /// Has control left in any way?
  mlir::Value emitLeft(const Flow &flow, mlir::Location location);
  bool checkExitDepth(Range range);
  static std::vector<SemValue> valuesOf(llvm::ArrayRef<Binding *> vars);

  Flow lowerFor(const ast::ForStmt &stmt);
  Flow lowerConstFor(const ast::ForStmt &stmt);
  Flow lowerConstBlocks(const ast::ForStmt &stmt);
  Flow lowerConstTrips(const ast::ForStmt &stmt, uint64_t trips,
                       llvm::function_ref<SemValue(uint64_t)> variable);
  /// The trips of a `const for`; nothing, after an error, where they are too many.
  std::optional<uint64_t> constTrips(const ast::ForStmt &stmt, int64_t low, int64_t high,
                                     int64_t step, bool inclusive);
  /// Checks that programs can share the trips of `loop`, which carries `vars`. Returns the results,
  /// merged if the attribute names a function for that.
  llvm::SmallVector<mlir::Value> lowerSplit(const ast::ForStmt &stmt, mlir::Operation *loop,
                                            int64_t parts, llvm::ArrayRef<Binding *> vars);
  void checkSplitStores(const ast::ForStmt &stmt, mlir::Operation *loop, int64_t parts);
  void checkSplitSums(const ast::ForStmt &stmt, mlir::Operation *loop, int64_t parts,
                      llvm::ArrayRef<Binding *> vars);
  /// The states of parts, merged by `function`. Nothing after an error.
  llvm::SmallVector<mlir::Value> emitMerge(const ast::Expr &function, mlir::ValueRange states,
                                           llvm::ArrayRef<Binding *> vars);
  std::string nameOf(const Binding *binding) const;
  /// What a loop from `low` to `high` counts by, so that no step passes the end of 64 bits.
  LoopBounds emitLoopBounds(mlir::Value low, mlir::Value high, mlir::Value step, bool inclusive,
                            mlir::Location location);
  mlir::Value emitCounter(const LoopBounds &bounds, mlir::Value counter, mlir::Location location);
  Flow lowerWhile(const ast::WhileStmt &stmt);
  void refuseAttributes(const std::vector<ast::Attribute> &attributes, const llvm::Twine &subject);
  /// What a loop that may be left early carries beyond its variables, before the first trip and
  /// after each: whether it has been left, whether by `return` where `break` is possible too, and
  /// what is returned. `yielded` begins with the variables.
  struct Leaving {
    llvm::SmallVector<mlir::Value> initial, yielded;
    bool tellsReturns = false;
    SemValue value = SemValue::ofVoid();
  };
  Leaving endLeavingTrip(const Flow &trip, llvm::ArrayRef<Binding *> vars, mlir::Block *body,
                         mlir::Operation *loop);
  /// What follows from `results` of such a loop: its variables, then the rest of what it carries.
  Flow leaveLoop(const Flow &trip, const Leaving &leaving, llvm::ArrayRef<Binding *> vars,
                 mlir::ValueRange results);
  /// Makes a loop that can be left of one whose body lacks its end.
  Flow leaveFor(mlir::scf::ForOp loop, const Flow &trip, llvm::ArrayRef<Binding *> vars);
  Flow leaveWhile(mlir::scf::WhileOp loop, const Flow &trip, llvm::ArrayRef<Binding *> vars);
  mlir::Value evalCondition(const ast::Expr &expr, const llvm::Twine &what);
  /// The `var`s of enclosing scopes that the statements assign, in order of first assignment.
  std::vector<Binding *> assignedVars(llvm::ArrayRef<const ast::Block *> blocks);
  std::vector<Binding *> assignedVars(llvm::ArrayRef<ast::StmtPtr> statements);
  std::vector<Binding *> varsNamed(const std::vector<std::string> &names);

  const Modules &modules;
  const ast::KernelDecl &kernel;
  const ElaborateOptions &options;
  DiagnosticEngine &diagnostics;
  const SourceManager &sources;
  mlir::ModuleOp module;
  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  /// Takes what is emitted while nothing may be: expressions before the body, which must be
  /// constant.
  std::unique_ptr<mlir::Block> scratch;

  /// Errors found so far, those included that the engine drops as duplicates or beyond its limit.
  unsigned reported = 0;
  unsigned inlinedCalls = 0;
  unsigned exitDepth = 0;  // regions that stand for what follows an early exit
  uint64_t tripsInAll = 0; // of `const for`, in the instance at hand
  std::set<const ast::Param *> written;

  const Module *scope; // whose names are visible: of the file that the code at hand stands in
  std::map<const ast::ConstDecl *, SemValue> constants; // looked up only
  std::set<const ast::ConstDecl *> constantsInProgress;
  std::vector<Frame> frames;
  std::map<std::string, Range> ended; // names of blocks that are over, for messages
  std::vector<CallSite> calls;

  // The signature of the instance at hand.
  struct LaunchName {
    enum Kind { Dim, Stride, Scalar } kind = Dim;
    Range declared;
    DType dtype = DType::Index;
  };
  std::map<std::string, LaunchName> launchNames;
  std::vector<std::string> dimOrder; // dimensions and strides in the order of the ABI
  std::map<std::string, Range>
      dropped; // parameters whose condition is false, and names only they bind
  std::map<std::string, const ast::Param *> params; // the others
  std::vector<runtime::Expr> gridExprs;
  std::map<std::string, int64_t> scalarHints; // `opt` of scalars
  std::set<std::string> rangedNames;
  bool impossible = false;
  std::map<std::string, int64_t> fixed; // dimensions, strides and scalars that are constants here
  const ast::TuneItem *config = nullptr;
  bool configChosen = false;

  // The region at hand.
  std::map<std::string, mlir::Value> launchValues;
  mlir::Block *entry = nullptr;
  /// The statement at hand stands directly in the kernel's body, or in a function called from
  /// there.
  bool standsInKernel = false;
  Range splitLoop; // the split loop that the kernel has
  std::map<std::pair<const void *, const void *>, mlir::Value>
      constantCache; // by attribute and type; looked up only
};

} // namespace tile

#endif // TILE_FRONTEND_LOWER_ELABORATOR_H
