// A pass that takes a target for granted.
def options {
  let target = Option<"target", "target", "std::string", "\"sm_90a\"", "The GPU, as in sm_90a">;
}
