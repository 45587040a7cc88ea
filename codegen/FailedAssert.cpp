// __assert_fail(message, file, line, function) that records its first call; several threads may
// call it at once.
#include "codegen/FailedAssert.h"

#include "llvm/IR/IRBuilder.h"

using namespace llvm;

/// The kernel goes on after a failure: code has no way to end a range of programs early, and the
/// caller looks at the record when all threads have come back. False, and nothing changed, for code
/// without asserts.
bool tile::recordAsserts(Module &module) {
  Function *fail = module.getFunction("__assert_fail");
  if (!fail || !fail->isDeclaration())
    return false;
  LLVMContext &context = module.getContext();
  Type *pointer = PointerType::getUnqual(context), *i32 = Type::getInt32Ty(context);
  auto *type = StructType::get(context, {pointer, pointer, i32});
  auto *record =
      new GlobalVariable(module, type, /*isConstant=*/false, GlobalValue::ExternalLinkage,
                         ConstantAggregateZero::get(type), failedAssertName);
  // A thread that finds no message is the first to fail; the rest is read after the run.
  auto *first = BasicBlock::Create(context, "", fail);
  auto *wins = BasicBlock::Create(context, "", fail);
  auto *done = BasicBlock::Create(context, "", fail);
  IRBuilder<> b(first);
  Value *slot = b.CreateStructGEP(type, record, 0);
  Value *exchange = b.CreateAtomicCmpXchg(
      slot, ConstantPointerNull::get(cast<PointerType>(pointer)), fail->getArg(0), MaybeAlign(),
      AtomicOrdering::SequentiallyConsistent, AtomicOrdering::SequentiallyConsistent);
  b.CreateCondBr(b.CreateExtractValue(exchange, 1), wins, done);
  b.SetInsertPoint(wins);
  b.CreateStore(fail->getArg(1), b.CreateStructGEP(type, record, 1));
  b.CreateStore(fail->getArg(2), b.CreateStructGEP(type, record, 2));
  b.CreateBr(done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  fail->setName("tile_assert_fail");
  fail->setLinkage(GlobalValue::InternalLinkage);
  return true;
}
