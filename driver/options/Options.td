// The one option table of tilec: what it parses, what --help, completions and the manual page say.
// An option's visibility names the commands that take it; DefaultVis is compiling.
include "llvm/Option/OptParser.td"

def RunVis : OptionVisibility;
def TuneVis : OptionVisibility;
def ExplainVis : OptionVisibility;
def InspectVis : OptionVisibility;
def LinkVis : OptionVisibility;
def FixVis : OptionVisibility;
def CheckVis : OptionVisibility;
def FormatVis : OptionVisibility;
def DebugVis : OptionVisibility;

class Titled<string title> : OptionGroup<title>, HelpText<title>;
def output_group : Titled<"OUTPUT">;
def kernel_group : Titled<"KERNEL">;
def message_group : Titled<"MESSAGES">;
def inside_group : Titled<"LOOKING INSIDE">;
def run_group : Titled<"RUNNING">;
def tune_group : Titled<"TUNING">;
def general_group : Titled<"GENERAL">;

// The commands that take an option.
class Commands<list<OptionVisibility> commands> { list<OptionVisibility> List = commands; }
def Everywhere : Commands<[DefaultVis, RunVis, TuneVis, ExplainVis, InspectVis, LinkVis, FixVis,
    CheckVis, FormatVis, DebugVis]>;
def Compiling : Commands<[DefaultVis, RunVis, TuneVis, ExplainVis, CheckVis, DebugVis]>;
def Reading : Commands<[DefaultVis, RunVis, TuneVis, ExplainVis, FixVis, CheckVis, DebugVis]>;
def Formatting : Commands<[FormatVis]>;
def Building : Commands<[DefaultVis]>;
def Writing : Commands<[DefaultVis, TuneVis, LinkVis]>;
def Running : Commands<[RunVis]>;
def Measuring : Commands<[RunVis, TuneVis]>;
def RunDebug : Commands<[RunVis, DebugVis]>;
def Debugging : Commands<[DebugVis]>;
def Inspecting : Commands<[InspectVis]>;
def Explaining : Commands<[ExplainVis]>;
def BuildTune : Commands<[DefaultVis, TuneVis]>;
def BuildRun : Commands<[DefaultVis, RunVis]>;
def ShipExplain : Commands<[DefaultVis, ExplainVis, CheckVis]>;
def Tuning : Commands<[TuneVis]>;

class In<Commands commands> : Visibility<commands.List>;
// Changes nothing of what is made or said: no part of a compile request (docs/CompileRequest.md).
def Beside : OptionFlag;

class Developer : Flags<[HelpHidden]>;

class Switch<list<string> prefixes, string name, string help, OptionGroup group, Commands commands,
    list<OptionFlag> flags = []>
    : Flag<prefixes, name>, HelpText<help>, Group<group>, In<commands>, Flags<flags>;

// --NAME=VALUE and --NAME VALUE.
multiclass Value<string name, string help, string meta, OptionGroup group, Commands commands,
    list<OptionFlag> flags = []> {
  def NAME : Separate<["--"], name>, HelpText<help>, MetaVarName<meta>, Group<group>, In<commands>,
      Flags<flags>;
  def NAME # _eq : Joined<["--"], name # "=">, Alias<!cast<Separate>(NAME)>, In<commands>,
      Flags<flags>;
}

def o : JoinedOrSeparate<["-"], "o">, MetaVarName<"FILE">, Group<output_group>, In<Writing>,
    HelpText<"Write FILE; its ending says what: .tilepkg .cubin .ptx .sass .c .ll .mlir .o (- is "
    "standard output)">;
defm emit : Value<"emit",
    "What to write: ast, tile, tile-opt, gpu, llvm, ptx, cubin, sass, obj or package", "KIND",
    output_group, Building>;
defm target : Value<"target",
    "A GPU as in sm_89 (tilec --version lists them), native: the GPU of this machine, or cpu; of "
    "packages and C a list (default: TILE_TARGET, else native; cpu for .o)", "NAME", output_group,
    Compiling>;
defm gpu : Value<"gpu",
    "The card whose speed configurations are chosen for, as in 'RTX 4090'; its target, too, unless "
    "--target says it", "CARD", output_group, Compiling>;
defm cpu : Value<"cpu",
    "Level of the processors that code for the CPU is for: x86-64, x86-64-v2, -v3 or -v4 (default: "
    "x86-64-v3); on 64-bit ARM armv8-a", "LEVEL", output_group, Building>;
defm out_name : Value<"out-name",
    "Begin the names of the functions of C with NAME_, so that several outputs of one kernel link",
    "NAME", output_group, Building>;
def with_source
    : Switch<["--"], "with-source", "Put the sources into the package", output_group, Building>;
defm extract : Value<"extract", "tilec inspect: write the package's files into DIR", "DIR",
    output_group, Inspecting>;
defm verify : Value<"verify",
    "tilec inspect: check the signature FILE.minisig against a public key of minisign (RW..., or "
    "its file)", "KEY", output_group, Inspecting>;
def O : Joined<["-"], "O">, MetaVarName<"LEVEL">,
    HelpText<"Optimisation level, 0 to 3 (default: 3)">, Group<output_group>, In<Compiling>;
defm cache : Value<"cache",
    "Keep what is compiled in DIR, and use it again; off: do not (default: TILE_CACHE, else "
    "off)", "DIR",
    output_group, BuildTune, [Beside]>;
defm cache_command : Value<"cache-command",
    "Keep results by a command, too: CMD get KEY FILE, CMD put KEY FILE (default: "
    "TILE_CACHE_COMMAND)", "CMD", output_group, Building, [Beside]>;
defm cache_size : Value<"cache-size", "Size of the cache in MiB (default: 1024)", "N", output_group,
    Building, [Beside]>;
def j : JoinedOrSeparate<["-"], "j">, MetaVarName<"N">, Group<output_group>, In<Building>,
    Flags<[Beside]>,
    HelpText<"Compile N inputs or targets at once, 0: one for each processor (default: 1)">;
def MD : Switch<["-"], "MD", "Write a list of the files that were read, for build systems",
    output_group, Building>;
def MF : JoinedOrSeparate<["-"], "MF">, MetaVarName<"FILE">,
    HelpText<"Where -MD writes (default: OUT.d)">, Group<output_group>, In<Building>;
defm ptxas_path : Value<"ptxas-path",
    "The ptxas program, or none: PTX instead of cubins (default: TILE_PTXAS, PATH, "
    "/usr/local/cuda, .venv)", "FILE", output_group, Compiling>;

def Xptxas : Separate<["-"], "Xptxas">, MetaVarName<"FLAG">,
    HelpText<"Give FLAG to ptxas, after our own; may be repeated">, Group<output_group>,
    In<Compiling>;
def Xptxas_eq : Joined<["-"], "Xptxas=">, Alias<Xptxas>, In<Compiling>;

def D : JoinedOrSeparate<["-"], "D">, MetaVarName<"NAME=VALUE">, Group<kernel_group>, In<Reading>,
  HelpText<"Bind a compile-time parameter: a number, true, a dtype, a word, a function">;
defm kernel : Value<"kernel", "Compile only this kernel of the file", "NAME", kernel_group,
    Reading>;
defm variant : Value<"variant", "Add a variant, as in decode:M=1..=16:8,K%64,align(a)=128,BM=16",
    "[NAME:]ITEM,...", kernel_group, ShipExplain>;
defm variants : Value<"variants", "Add the variants of a JSON file", "FILE", kernel_group,
    ShipExplain>;
def no_generic : Switch<["--"], "no-generic", "Leave out the variants without conditions",
    kernel_group, ShipExplain>;
defm with : Value<"with",
    "Attributes of kernels, before the source's `with` and --config, as in warps=8,stages=3",
    "NAME[=VALUE],...", kernel_group, Compiling>;
defm config : Value<"config",
    "Values of tuned names, {\"BM\": 64} in a file, or a result of tilec tune; tilec tune: try "
    "only what has these values, may be repeated, or a list in a file", "NAME=VALUE,...|FILE.json",
    kernel_group, Compiling>;
defm shape : Value<"shape",
    "Extents to choose configurations for, as in M=16,N=4096; tilec tune: to tune for, may be "
    "repeated; tilec run: those that only outputs have", "NAME=N,...", kernel_group, Compiling>;
defm divisors : Value<"divisors",
    "What divides extents of the calls that code is for, as in N=16,K=1: of a kernel's own "
    "versions for aligned rows and for all the one that fits is made", "NAME=N,...", kernel_group,
    Compiling>;
def I : JoinedOrSeparate<["-"], "I">, MetaVarName<"DIR">, HelpText<"Search DIR for imports">,
    Group<kernel_group>, In<Reading>;

def W : Joined<["-"], "W">, MetaVarName<"[no-]CODE">, HelpText<"Enable or disable a warning">,
    Group<message_group>, In<Everywhere>;
def Werror : Switch<["-"], "Werror", "Make every warning an error", message_group, Everywhere>;
def Werror_eq : Joined<["-"], "Werror=">, MetaVarName<"CODE">,
    HelpText<"Make one warning an error">, Group<message_group>, In<Everywhere>;
def g : Switch<["-"], "g", "Debug build: keep `print` and `assert`", kernel_group, BuildRun>;
def debug_asserts : Flag<["--"], "debug-asserts">, Alias<g>, HelpText<"The same as -g">,
    Group<kernel_group>, In<BuildRun>;
def remarks
    : Switch<["--"], "remarks", "Say what kept the code from being faster", message_group, Reading>;
def remarks_eq : Joined<["--"], "remarks=">, MetaVarName<"REGEX|passes">,
    HelpText<"Only remarks that match; passes: for each kernel and loop, which passes changed it "
    "and why the rest did not">, Group<message_group>, In<Reading>;
defm explain : Value<"explain", "Explain a diagnostic, as in --explain E0301", "CODE",
    message_group, Building, [Beside]>;
defm error_limit : Value<"error-limit", "Stop after N errors, 0 for no limit (default: 20)", "N",
    message_group, Everywhere>;
defm diagnostics_format : Value<"diagnostics-format",
    "text, json (an object a line) or sarif (default: text)", "FORMAT", message_group, Everywhere>;
defm color : Value<"color", "auto, always or never (default: auto)", "WHEN", message_group,
    Everywhere, [Beside]>;

defm stop_after : Value<"stop-after", "Stop after a stage (the kinds of --emit) and write nothing",
    "STAGE", inside_group, Building>;
defm dump_dir : Value<"dump-dir", "Write what every stage makes into DIR", "DIR", inside_group,
    Building, [Beside]>;
defm print_ir_after : Value<"print-ir-after",
    "Print the module to standard error after these passes, as --print-pipeline names them",
    "PASS,...", inside_group, Building, [Beside]>;
def print_ir_after_all : Switch<["--"], "print-ir-after-all",
    "Print the module to standard error after every pass", inside_group, Building, [Beside]>;
def v : Switch<["-"], "v", "Say on standard error which steps and commands are run", inside_group,
    Compiling, [Beside]>;
def verbose : Flag<["--"], "verbose">, Alias<v>, HelpText<"The same as -v">, Group<inside_group>,
    In<Compiling>;
def q : Switch<["-"], "q", "Do not say what was run", run_group, Running>;
def quiet
    : Flag<["--"], "quiet">, Alias<q>, HelpText<"The same as -q">, Group<run_group>, In<Running>;
def print_pipeline : Switch<["--"], "print-pipeline", "Print the passes that would run",
    inside_group, Building, [Beside]>;
def print_abi : Switch<["--"], "print-abi",
    "Print the manifest: parameters, contracts, grid, arguments", inside_group, Building>;
def print_request : Switch<["--"], "print-request",
    "Print the options as a compile request, JSON for --request", inside_group, Compiling,
    [Beside]>;
defm request : Value<"request",
    "Take what is compiled from FILE, a compile request as --print-request writes it, instead of "
    "from options (- is standard input)", "FILE", output_group, Compiling, [Beside]>;
def print_settings : Switch<["--"], "print-settings",
    "Print every setting, its value and where that comes from", inside_group, Building, [Beside]>;
def explain_cache : Switch<["--"], "explain-cache",
    "Say whether the cache had the result, and if not, why", inside_group, Building, [Beside]>;
defm html : Value<"html",
    "tilec explain: write a page with code by line, layouts, memory and schedule to FILE", "FILE",
    inside_group, Explaining>;
defm profile : Value<"profile",
    "tilec explain: join a report of Nsight Compute to the source's lines: ncu --import R --page "
    "source --csv --print-source sass > FILE", "FILE", inside_group, Explaining>;
def diff : Switch<["--"], "diff",
    "tilec explain: compare A.tile B.tile, A.json B.json, or FILE.tile and configurations such as "
    "warps=4 warps=8", inside_group, Explaining>;
def json : Switch<["--"], "json", "tilec explain: write JSON, for tools", inside_group, Explaining>;
defm repro : Value<"repro",
    "Write a ZIP archive with which others can repeat this call (--repro=: tile-repro-HASH.zip in "
    "the temporary folder)", "FILE", inside_group, Building, [Beside]>;
defm debug_crash : Value<"debug-crash",
    "Fail on purpose, to see what follows: memory, fatal, verifier or exception", "HOW",
    inside_group, Building, [HelpHidden, Beside]>;
def time_report : Switch<["--"], "time-report", "Print how long each phase took, in milliseconds",
    inside_group, BuildRun, [Beside]>;

defm arg : Value<"arg",
    "A tensor's .npy file, or a scalar's value. Compiling: M=1..=4096:2048, K=1024, K%8, "
    "align(a)=128, x=f16[M,K]", "NAME=FILE|VALUE", run_group, Compiling>;
defm out : Value<"out", "Write an output to a .npy file", "NAME=FILE", run_group, RunDebug>;
defm device : Value<"device",
    "cpu, or cuda, cuda:1 (default: cpu); tilec tune: several as in cuda:0,cuda:1; cuda: all GPUs",
    "NAME", run_group, Measuring>;
defm random : Value<"random", "Make random inputs of these extents, as in M=1000,N=777",
    "NAME=N,...", run_group, RunDebug>;
defm program : Value<"program", "tilec debug: the program of the grid to follow (default: 0)", "N",
    run_group, Debugging>;
def dap : Switch<["--"], "dap",
    "tilec debug: speak the debug adapter protocol on standard input and output", run_group,
    Debugging>;
defm seed : Value<"seed", "Seed of the random inputs (default: 0)", "N", run_group, Measuring>;
def time : Switch<["--"], "time", "Print the median time of several runs", run_group, Running>;
defm threads : Value<"threads", "Threads of --device cpu (default: one for each processor)", "N",
    run_group, Measuring>;

defm expect : Value<"expect", "Compare an output with a .npy file; see --tolerance", "NAME=FILE",
    run_group, Running>;
defm tolerance : Value<"tolerance",
    "Largest error, as a part of the largest element expected (default: 0.01)", "X", run_group,
    Measuring>;
defm image : Value<"image", "Run this cubin or PTX file of the kernel instead of compiling", "FILE",
    run_group, Running>;
defm measure : Value<"measure", "Write times to FILE as JSON", "FILE", run_group, Running>;
defm give_up : Value<"give-up", "Do not time what takes more than MS milliseconds", "MS", run_group,
    Running>;

defm work : Value<"work", "Where binaries and the log go (default: NAME.tune beside the source)",
    "DIR", tune_group, Tuning>;
defm check : Value<"check",
    "Compare results with: default (the first configuration's), cpu or none", "WHAT", tune_group,
    Tuning>;
def exhaustive : Switch<["--"], "exhaustive", "Measure every configuration at every shape",
    tune_group, Tuning>;
def precompile : Switch<["--"], "precompile",
    "Compile the configurations and stop: no GPU is needed", tune_group, Tuning>;
def force : Switch<["--"], "force", "Measure again what the log has already", tune_group, Tuning>;
defm timeout : Value<"timeout", "Seconds for one compilation or measurement (default: 60)", "S",
    tune_group, Tuning>;
defm budget : Value<"budget", "Start nothing new after so many seconds", "S", tune_group, Tuning>;
defm keep : Value<"keep", "Configurations to keep, for different shapes (default: 1)", "N",
    tune_group, Tuning>;
defm objective : Value<"objective",
    "What the kept ones are chosen by: geomean of the time lost, or worst (default: geomean)",
    "WHAT", tune_group, Tuning>;
defm memory : Value<"memory",
    "Megabytes that a candidate on the CPU may use (default: as much as there is, 0: no limit)",
    "MB", tune_group, Tuning>;
defm csv : Value<"csv", "Write the measurements to FILE as CSV", "FILE", tune_group, Tuning>;
defm plot : Value<"plot", "Draw the measurements into FILE.svg", "FILE", tune_group, Tuning>;
def serve : Switch<["--"], "serve", "Be a worker: measure what standard input, a socket, asks for",
    tune_group, Tuning, [HelpHidden]>;
defm jobs : Value<"jobs", "Compilations at a time (default: one for each processor)", "N",
    tune_group, Tuning>;
defm shard : Value<"shard", "Measure part I of N of the configurations, as in 0/4", "I/N",
    tune_group, Tuning>;
defm merge : Value<"merge", "Make the result of this log instead of measuring; may be repeated",
    "FILE", tune_group, Tuning>;

// What `tilec fmt --check` becomes: --check takes a word of `tilec tune`.
def fmt_check : Flag<["--"], "fmt-check">, Flags<[HelpHidden]>, Group<general_group>,
    In<Formatting>,
    HelpText<"tilec fmt --check: say which files are not formatted, by the exit code too, and "
    "write nothing">;
def help : Switch<["--"], "help", "Print the options of the command; tilec help TOPIC says more",
    general_group, Everywhere, [Beside]>;
def : Flag<["-"], "h">, Alias<help>, In<Everywhere>;
def help_hidden : Switch<["--"], "help-hidden", "Print those for developers of tilec, too",
    general_group, Everywhere, [Beside]>;
def version : Switch<["--"], "version", "Print the version and the targets", general_group,
    Everywhere, [Beside]>;
def : Flag<["-"], "V">, Alias<version>, In<Everywhere>;
