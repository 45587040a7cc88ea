// The parts of the C of one kernel instance: its tables, and the C spelling of names and types.
#ifndef TILE_CODEGEN_CSOURCE_TABLES_H
#define TILE_CODEGEN_CSOURCE_TABLES_H

#include "launch/Validate.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tile {

/// A string literal, quotes included.
std::string quoteC(llvm::StringRef text);
/// `name` as an identifier of C and C++: keywords, and the words that launches use, get an
/// underscore; xs[1] is xs_1.
std::string identifierC(llvm::StringRef name);
/// The C type of an element: "float", "tile_f16".
llvm::StringRef typeC(runtime::Dtype dtype);
/// "TILE_F16".
std::string dtypeC(runtime::Dtype dtype);

/// The sizes of the arrays that the generated code keeps on the stack.
struct CLimits {
  int params = 1, slots = 1, strides = 1, axes = 1, arguments = 1, maps = 0;
};

} // namespace tile

namespace tile::runtime {

/// Writes the tables of one instance, which are those of the launcher's core, as C. Its constants
/// are called tk_NAME_INDEX.
class CTables {
public:
  /// None, with the reason in `error`, for a kernel that no launch can satisfy.
  static std::unique_ptr<CTables> create(const Kernel &kernel, size_t index, std::string &error);

  const Kernel &getKernel() const { return validator->getKernel(); }
  /// Chosen only where conditions of its own hold, before the generic instances.
  bool isVariant() const { return !getKernel().facts.empty(); }
  const std::string &getVariant() const { return getKernel().variant; }
  void raise(CLimits &limits) const;
  /// Everything but the record itself.
  void writeTables(llvm::raw_ostream &out) const;
  /// The initialiser of the instance's tk_kernel; `number` is its place in the build, `unit` that
  /// of its binary.
  void writeRecord(llvm::raw_ostream &out, size_t number, size_t unit, bool isHost) const;

  /// Declares the function in the object file that runs the instance on the CPU.
  void declareHost(llvm::raw_ostream &out, llvm::StringRef prefix) const;

  /// The typed function's parameters: "const float *x, int64_t N, void *stream, uint32_t flags".
  std::string getParameters() const;
  /// The typed function's body, up to the launch: fills an array `tk_list` with the arguments.
  /// `record` is the instance's tk_kernel.
  void writeArguments(llvm::raw_ostream &out, llvm::StringRef record) const;
  /// Lines that say what the contracts ask.
  std::vector<std::string> getContracts() const;

private:
  explicit CTables(size_t index) : index(index) {}
  const tk_kernel &getTables() const { return validator->getTables(); }
  void writeParams(llvm::raw_ostream &out) const;
  void writeSlots(llvm::raw_ostream &out) const;
  void writeExprs(llvm::raw_ostream &out) const;
  void writeConditions(llvm::raw_ostream &out) const;

  std::unique_ptr<Validator> validator;
  size_t index;
};

} // namespace tile::runtime

#endif
