// The manifest as JSON: writer.
// Fields come in a fixed order, and optional ones are left out where they say nothing: equal
// manifests are equal bytes, so that a build can be repeated.
#include "manifest/Json.h"

#include <cmath>

namespace tile::runtime {

static Json write(const Expr &expr) {
  if (expr.isInteger())
    return expr.getInteger();
  if (expr.isFloat())
    return expr.getFloat();
  if (expr.isName())
    return expr.getName();
  Json list = Json::array({std::string(spelling(expr.getOp()))});
  for (const Expr &operand : expr.getOperands())
    list.push_back(write(operand));
  return list;
}

/// JSON has no infinities: they travel as strings.
static Json write(const Constant &constant) {
  if (auto *number = std::get_if<double>(&constant); number && !std::isfinite(*number))
    return toString(constant);
  return std::visit([](const auto &value) { return Json(value); }, constant);
}

static Json write(const Dim &dim) {
  Json json = {{"name", dim.name}, {"min", dim.min}, {"max", dim.max}};
  if (dim.opt)
    json["opt"] = *dim.opt;
  json["multiple_of"] = dim.multipleOf;
  if (dim.line)
    json["line"] = dim.line;
  if (!dim.contract.empty())
    json["contract"] = dim.contract;
  return json;
}

static constexpr std::string_view accessNames[] = {"in", "out", "inout"};

static Json write(const Param &param) {
  Json json = {{"name", param.name}};
  if (param.kind == Param::Kind::Scalar) {
    json["kind"] = "scalar";
    json["dtype"] = dtypeName(param.dtype);
    json["line"] = param.line;
    if (param.defaultValue)
      json["default"] = write(*param.defaultValue);
    if (param.min)
      json["min"] = *param.min;
    if (param.max)
      json["max"] = *param.max;
    if (!param.contract.empty()) {
      json["contract"] = param.contract;
      json["contract_line"] = param.contractLine;
    }
    return json;
  }
  json["kind"] = "tensor";
  json["access"] = accessNames[size_t(param.access)];
  json["dtype"] = dtypeName(param.dtype);
  json["align"] = param.align;
  json["line"] = param.line;
  json["dims"] = Json::array();
  for (const Expr &dim : param.dims)
    json["dims"].push_back(write(dim));
  json["strides"] = nullptr;
  if (param.strides) {
    json["strides"] = Json::array();
    for (const std::optional<Expr> &stride : *param.strides)
      json["strides"].push_back(stride ? write(*stride) : Json("*"));
  }
  if (param.fill)
    json["fill"] = write(*param.fill);
  return json;
}

static Json write(const Kernel &kernel) {
  Json json = {{"name", kernel.name},
               {"symbol", kernel.symbol},
               {"file", kernel.file},
               {"line", kernel.line}};
  if (!kernel.doc.empty())
    json["doc"] = kernel.doc;
  json["constants"] = Json::object();
  for (const auto &[name, value] : kernel.constants)
    json["constants"][name] = write(value);
  for (const char *key : {"dims", "params", "contracts", "grid", "arguments"})
    json[key] = Json::array();
  for (const Dim &dim : kernel.dims)
    json["dims"].push_back(write(dim));
  for (const Param &param : kernel.params)
    json["params"].push_back(write(param));
  for (const Contract &contract : kernel.contracts)
    json["contracts"].push_back({{"condition", write(contract.condition)},
                                 {"text", contract.text},
                                 {"line", contract.line}});
  if (!kernel.variant.empty())
    json["variant"] = kernel.variant;
  if (!kernel.facts.empty())
    json["specialize"] = Json::array();
  for (const Fact &fact : kernel.facts) {
    Json entry = fact.param.empty() ? Json{{"condition", write(fact.condition)}}
                                    : Json{{"param", fact.param}, {"align", fact.align}};
    entry["text"] = fact.text;
    if (fact.line)
      entry["line"] = fact.line;
    json["specialize"].push_back(std::move(entry));
  }
  for (const Expr &extent : kernel.grid)
    json["grid"].push_back(write(extent));
  for (const Argument &argument : kernel.arguments)
    if (argument.kind == Argument::Kind::TensorMap)
      json["arguments"].push_back({{"tensor_map", argument.index}});
    else if (argument.kind == Argument::Kind::Scratch)
      json["arguments"].push_back({{"scratch", true}});
    else
      json["arguments"].push_back(
          {{argument.kind == Argument::Kind::Param ? "param" : "dim", argument.name}});
  if (!kernel.tensorMaps.empty())
    json["tensor_maps"] = Json::array();
  for (const TensorMap &map : kernel.tensorMaps) {
    json["tensor_maps"].push_back(
        {{"param", map.param}, {"order", map.order}, {"box", map.box}, {"swizzle", map.swizzle}});
    if (!map.steps.empty())
      json["tensor_maps"].back()["steps"] = map.steps;
  }
  if (!kernel.aliases.empty()) {
    json["aliases"] = Json::array();
    for (const auto &[first, second] : kernel.aliases)
      json["aliases"].push_back({first, second});
  }
  json["launch"] = {{"threads", kernel.launch.threads},
                    {"shared_bytes", kernel.launch.sharedBytes},
                    {"registers", kernel.launch.registers},
                    {"spill_bytes", kernel.launch.spillBytes}};
  if (kernel.launch.sharedTaken)
    json["launch"]["shared_taken"] = write(*kernel.launch.sharedTaken);
  if (kernel.launch.persistent)
    json["launch"]["persistent"] = true;
  if (kernel.launch.scratchBytes)
    json["launch"]["scratch_bytes"] = kernel.launch.scratchBytes;
  if (kernel.launch.scratchShared)
    json["launch"]["scratch_shared"] = true;
  if (kernel.launch.cluster != 1)
    json["launch"]["cluster"] = kernel.launch.cluster;
  return json;
}

Json kernelsAsJson(const Manifest &manifest) {
  Json list = Json::array();
  for (const Kernel &kernel : manifest.kernels)
    list.push_back(write(kernel));
  return list;
}

std::string toJson(const Manifest &manifest) {
  Json json = {{"format", "tile-manifest"},
               {"version", manifestVersion},
               {"compiler", manifest.compiler},
               {"target", manifest.target}};
  if (manifest.binary)
    json["binary"] = {{"bytes", manifest.binary->bytes}, {"hash", manifest.binary->hash}};
  if (!manifest.cpu.empty())
    json["cpu"] = manifest.cpu;
  json["kernels"] = kernelsAsJson(manifest);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string toJson(Manifest manifest, std::string_view binary) {
  manifest.binary = identify(binary);
  return toJson(manifest);
}

} // namespace tile::runtime
