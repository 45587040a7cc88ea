// Compile requests: every option that changes what is compiled is in them, and JSON holds them all.
#include "driver/options/OptionsParser.h"
#include "gtest/gtest.h"
#include <map>
#include <set>

using namespace tile;

namespace {

/// The request of a command line, or nothing where that is wrong.
std::optional<runtime::CompileRequest> requestOf(std::vector<std::string> words) {
  std::vector<const char *> pointers;
  for (const std::string &word : words)
    pointers.push_back(word.c_str());
  int code = 0;
  std::optional<Options> options = parseOptions(int(pointers.size()), pointers.data(), code);
  return options ? std::optional(makeRequest(*options)) : std::nullopt;
}

std::string toText(const runtime::CompileRequest &request) {
  std::string text, error;
  EXPECT_TRUE(runtime::toJson(request, text, error)) << error;
  return text;
}

std::optional<runtime::CompileRequest> parse(llvm::StringRef text, std::string &error) {
  llvm::StringSet<> given;
  return parseCompileRequest(text, given, error);
}

/// Words that give an option another value than its default, by the option's number.
const std::map<unsigned, std::vector<std::string>> samples = {
    {OPT_o, {"-o", "other.ptx"}},
    {OPT_emit, {"--emit=llvm"}},
    {OPT_target, {"--target=sm_80"}},
    {OPT_gpu, {"--gpu=H100 SXM"}},
    {OPT_cpu, {"--target=cpu", "-o", "k.o", "--cpu=x86-64-v4"}},
    {OPT_out_name, {"-o", "k.c", "--out-name=n"}},
    {OPT_with_source, {"--with-source"}},
    {OPT_O, {"-O1"}},
    {OPT_MD, {"-MD"}},
    {OPT_MF, {"-MD", "-MF", "k.d"}},
    {OPT_ptxas_path, {"--ptxas-path=/ptxas"}},
    {OPT_Xptxas, {"-Xptxas", "-v"}},
    {OPT_D, {"-DB=1"}},
    {OPT_kernel, {"--kernel=k"}},
    {OPT_variant, {"--variant=v:M=1..=16:8"}},
    {OPT_variants, {"--variants=" TILE_TEST_VARIANTS}},
    {OPT_no_generic, {"--variant=v:M=1", "--no-generic"}},
    {OPT_with, {"--with=warps=8"}},
    {OPT_config, {"--config=B=1"}},
    {OPT_shape, {"--shape=M=4"}},
    {OPT_divisors, {"--divisors=M=4"}},
    {OPT_arg, {"--arg=M=1..=4"}},
    {OPT_I, {"-I", "folder"}},
    {OPT_W, {"-Wno-E0101"}},
    {OPT_Werror, {"-Werror"}},
    {OPT_Werror_eq, {"-Werror=W0101"}},
    {OPT_g, {"-g"}},
    {OPT_remarks, {"--remarks"}},
    {OPT_remarks_eq, {"--remarks=passes"}},
    {OPT_error_limit, {"--error-limit=3"}},
    {OPT_diagnostics_format, {"--diagnostics-format=json"}},
    {OPT_stop_after, {"--stop-after=tile"}},
    {OPT_print_abi, {"--print-abi"}},
};

const std::vector<std::string> base = {"tilec", "k.tile", "-o", "k.ptx", "--target=sm_90a"};

std::vector<std::string> with(const std::vector<std::string> &more) {
  std::vector<std::string> words = base;
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(CompileRequest, HoldsEveryOptionThatIsNotBesideIt) {
  const llvm::opt::OptTable &table = getOptionTable();
  std::string plain = toText(*requestOf(base));
  unsigned seen = 0;
  for (unsigned id = 1; id <= table.getNumOptions(); ++id) {
    llvm::opt::Option option = table.getOption(llvm::opt::OptSpecifier(id));
    if (!isOfRequest(option, Options::Command::Compile) || option.getAlias().isValid())
      continue;
    std::string name = option.getPrefixedName().str();
    ++seen;
    auto sample = samples.find(id);
    ASSERT_NE(sample, samples.end())
        << name << " has no sample: put it into CompileRequest and here, or mark it Beside";
    std::optional<runtime::CompileRequest> request = requestOf(with(sample->second));
    ASSERT_TRUE(request) << name;
    EXPECT_NE(toText(*request), plain) << name << " leaves the request as it was";
  }
  EXPECT_EQ(seen, samples.size());
}

TEST(CompileRequest, JsonHoldsWhatWordsSay) {
  for (const auto &[id, words] : samples) {
    std::string error, text = toText(*requestOf(with(words)));
    std::optional<runtime::CompileRequest> again = parse(text, error);
    ASSERT_TRUE(again) << error;
    EXPECT_EQ(toText(*again), text);
  }
}

/// Every field can be set by an option, and an option that is Beside sets none.
TEST(CompileRequest, EveryFieldHasAnOption) {
  std::set<std::string> fields, reached;
  const runtime::CompileRequest none;
  runtime::visitFields(none, [&](const char *name, const auto &, auto...) { fields.insert(name); });
  for (const auto &[id, words] : samples) {
    std::string error;
    llvm::StringSet<> given;
    parseCompileRequest(toText(*requestOf(with(words))), given, error);
    for (const auto &entry : given)
      reached.insert(entry.getKey().str());
  }
  reached.insert("remarks_regex"); // of --remarks=REGEX, as --remarks=passes is the sample
  EXPECT_EQ(fields, reached);
  std::string plain = toText(*requestOf(base));
  for (const std::vector<std::string> &words : std::vector<std::vector<std::string>>{
           {"--cache=c"}, {"-j", "3"}, {"-v"}, {"--color=never"}, {"--dump-dir=d"}})
    EXPECT_EQ(toText(*requestOf(with(words))), plain) << words.front();
}

TEST(CompileRequest, OrderOfNamesDoesNotMatter) {
  EXPECT_EQ(toText(*requestOf(with({"-DB=1", "-DA=2", "--shape=N=1,M=2"}))),
            toText(*requestOf(with({"--shape=M=2,N=1", "-DA=2", "-DB=1"}))));
}

TEST(CompileRequest, ValuesOfAnotherKindAreErrors) {
  auto problemOf = [](const std::string &field) {
    std::string error;
    auto request =
        parse("{\"format\": \"tile-compile-request\", \"version\": 1, " + field + "}", error);
    EXPECT_FALSE(request) << field;
    return error;
  };
  EXPECT_EQ(problemOf("\"level\": \"2\""), "\"level\" is \"2\", expected a number from 0 to 3");
  EXPECT_EQ(problemOf("\"level\": -1"), "\"level\" is -1, expected a number from 0 to 3");
  EXPECT_EQ(problemOf("\"inputs\": \"k.tile\""),
            "\"inputs\" is \"k.tile\", expected a list of texts");
  EXPECT_EQ(problemOf("\"debug\": 1"), "\"debug\" is 1, expected true or false");
  EXPECT_EQ(
      problemOf("\"shape\": {\"M\": -4}"),
      "\"shape\" is {\"M\":-4}, expected an object of names and extents, as in {\"M\": 4096}");
  EXPECT_EQ(problemOf("\"defines\": {\"B\": []}"),
            "\"defines\" is {\"B\":[]}, expected an object of names and values, as in "
            "{\"BLOCK\": 1024, \"T\": \"f16\"}");
  EXPECT_EQ(problemOf("\"define\": {}"), "there is no field \"define\"; did you mean \"defines\"?");
}

TEST(CompileRequest, TextsAreUtf8) {
  runtime::CompileRequest request;
  request.kernel = "\xff";
  std::string text, error;
  EXPECT_FALSE(runtime::toJson(request, text, error));
  EXPECT_EQ(error, "'kernel' has a text that is no UTF-8");
}

} // namespace
