// Names of targets and cards: the only place that reads them.
#include "target/Target.h"

#include <cctype>
#include <string>
#include <vector>

namespace tile {

const GPUTarget *findGPUTarget(std::string_view name) {
  for (const GPUTarget &target : getGPUTargets())
    if (target.name == name)
      return &target;
  return nullptr;
}

const GPUTarget *findDeviceTarget(unsigned major, unsigned minor) {
  const GPUTarget *found = nullptr;
  for (const GPUTarget &target : getGPUTargets())
    if (target.major == major && target.minor == minor && (!found || target.suffix))
      found = &target;
  return found;
}

const GPUTarget *findTargetFor(unsigned major, unsigned minor) {
  const GPUTarget *found = findDeviceTarget(major, minor);
  if (!found)
    for (const GPUTarget &target : getGPUTargets())
      if (!target.suffix && target.capability() <= major * 10 + minor)
        found = &target;
  return found;
}

std::string nameTargetOf(unsigned major, unsigned minor) {
  if (const GPUTarget *target = findDeviceTarget(major, minor))
    return std::string(target->name);
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

bool parseGPUName(std::string_view name, GPUName &result) {
  constexpr std::string_view prefix = "sm_";
  if (name.substr(0, prefix.size()) != prefix)
    return false;
  name.remove_prefix(prefix.size());
  size_t digits = 0;
  unsigned number = 0;
  for (; digits < name.size() && name[digits] >= '0' && name[digits] <= '9'; ++digits)
    number = digits < 4 ? number * 10 + unsigned(name[digits] - '0') : number;
  if (digits < 2 || digits > 4 || name.size() - digits > 1)
    return false;
  result = {number / 10, number % 10, digits < name.size() ? name[digits] : '\0'};
  return true;
}

const GPUCard &getCard(const GPUTarget &target) {
  // The first of the exact target, else of the highest capability that is not above.
  const GPUCard *nearest = nullptr;
  unsigned best = 0;
  for (const GPUCard &card : getGPUCards()) {
    if (card.target == target.name)
      return card;
    const GPUTarget *of = findGPUTarget(card.target);
    unsigned capability = of ? of->capability() : 0;
    if (!nearest || (capability <= target.capability() && capability > best)) {
      nearest = &card;
      best = capability;
    }
  }
  return *nearest;
}

/// Lower-case words of letters and digits: "RTX 4090", "rtx-4090" and "RTX4090" are "rtx" "4090".
static std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  char last = ' ';
  for (char c : text) {
    bool isWord = std::isalnum(static_cast<unsigned char>(c));
    // A name such as "rtx4090" is two words; "h100", "l40s" and "gb10" are one.
    bool breaks = std::isdigit(static_cast<unsigned char>(c)) && !words.empty() &&
                  (words.back() == "rtx" || words.back() == "pro");
    if (isWord && (!std::isalnum(static_cast<unsigned char>(last)) || breaks))
      words.emplace_back();
    if (isWord)
      words.back() += char(std::tolower(static_cast<unsigned char>(c)));
    last = c;
  }
  return words;
}

static bool hasAll(const std::vector<std::string> &words, const std::vector<std::string> &wanted) {
  for (const std::string &word : wanted) {
    bool found = false;
    for (const std::string &each : words)
      found |= each == word;
    if (!found)
      return false;
  }
  return !wanted.empty();
}

const GPUCard *findCard(std::string_view words) {
  const GPUCard *found = nullptr;
  for (const GPUCard &card : getGPUCards())
    if (hasAll(split(card.name), split(words))) {
      if (!found)
        found = &card;
      else if (found->target != card.target)
        return nullptr;
    }
  return found;
}

const GPUCard *findCardOfDevice(std::string_view driverName) {
  // The longest match: "H100 PCIe" before "H100".
  const GPUCard *found = nullptr;
  size_t most = 0;
  for (const GPUCard &card : getGPUCards()) {
    std::vector<std::string> wanted = split(card.driver);
    if (wanted.size() > most && hasAll(split(driverName), wanted)) {
      found = &card;
      most = wanted.size();
    }
  }
  return found;
}

} // namespace tile
