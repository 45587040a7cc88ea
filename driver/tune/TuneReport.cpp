// The log of a search to look at: as a table, and as a picture.
//
// The picture has two panels, one above the other, both with the ratio of a time to the best time
// at its shape on a logarithmic axis from 1 to 4; slower ones lie on the upper edge:
//   4 |  .     .                 x: seconds of the search; a step line for each shape
//     |     .     .              is the best so far
//   1 |__.____.__.____
//   4 | .  . . :                 x: the configurations, best first
//   1 |.:.:.:_____
//
#include "driver/tune/TuneReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <map>

using namespace llvm;

namespace tile {

/// Names of NAME=VALUE,... in all texts, in the order in which they come up.
template <typename Get> static std::vector<std::string> listNames(const TuneLog &log, Get get) {
  std::vector<std::string> names;
  for (const Measurement &each : log.getMeasurements())
    for (const auto &[name, value] : parseConfig(get(each)).value_or(TuneConfig()))
      if (!is_contained(names, name))
        names.push_back(name);
  return names;
}

static std::string quote(StringRef text) {
  if (text.find_first_of(",\"\n") == StringRef::npos)
    return text.str();
  std::string quoted = "\"";
  for (char c : text)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string toCsv(const TuneLog &log) {
  auto shapeOf = [](const Measurement &each) -> StringRef { return each.shape; };
  auto configOf = [](const Measurement &each) -> StringRef { return each.config; };
  std::vector<std::string> extents = listNames(log, shapeOf), tuned = listNames(log, configOf);
  std::string text;
  raw_string_ostream stream(text);
  for (const std::string &name : extents)
    stream << name << ",";
  for (const std::string &name : tuned)
    stream << name << ",";
  stream << "status,effort,ms,seconds,reason\n";
  for (const Measurement &each : log.getMeasurements()) {
    auto print = [&](const std::vector<std::string> &names, StringRef values) {
      TuneConfig parsed = parseConfig(values).value_or(TuneConfig());
      for (const std::string &name : names) {
        auto found = find_if(parsed, [&](const auto &item) { return item.first == name; });
        stream << (found == parsed.end() ? "" : quote(found->second)) << ",";
      }
    };
    print(extents, each.shape);
    print(tuned, each.config);
    stream << each.status << "," << each.effort << ",";
    if (each.isTimed())
      stream << format("%.6g", each.milliseconds);
    stream << "," << format("%.4f", each.seconds) << "," << quote(each.reason) << "\n";
  }
  return text;
}

//===--- The plot ---------------------------------------------------------===//

namespace {

/// A diagram whose y axis is a ratio of 1 to `most`, by its logarithm.
struct Panel {
  double left, top, width, height, span; ///< `span`: of x
  static constexpr double most = 4;

  double x(double value) const { return left + width * value / std::max(span, 1e-9); }
  double y(double ratio) const {
    return top + height * (1 - std::log(std::clamp(ratio, 1.0, most)) / std::log(most));
  }
};

} // namespace

static const char *colorOf(size_t shape) {
  static const char *const colors[] = {"#4269d0", "#ef7d00", "#e0383e", "#3f9e9e",
                                       "#3ca951", "#c2478d", "#9467bd", "#7f6a4f"};
  return colors[shape % std::size(colors)];
}

static std::string escape(StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '&'   ? "&amp;"
              : c == '<' ? "&lt;"
              : c == '>' ? "&gt;"
              : c == '"' ? "&quot;"
                         : std::string(1, c);
  return result;
}

static void drawAxes(raw_ostream &svg, const Panel &panel, StringRef label) {
  for (double ratio : {1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0})
    svg << format("<line x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f' stroke='#ddd'/>", panel.left,
                  panel.left + panel.width, panel.y(ratio), panel.y(ratio))
        << format("<text x='%.1f' y='%.1f' text-anchor='end'>%g</text>\n", panel.left - 6,
                  panel.y(ratio) + 4, ratio);
  svg << format("<text x='%.1f' y='%.1f'>", panel.left, panel.top - 8) << escape(label)
      << "</text>\n";
}

/// About as wide as `text` is drawn, so that the picture has room for it: 12 pixels high, no letter
/// of a sans-serif font is wider than 0.62 of that on average.
static double widthOf(StringRef text) { return 7.5 * double(text.size()); }

/// The legend: dots, crosses and lines.
static void drawLegend(raw_ostream &svg, double x, double y) {
  svg << format("<g fill='#555'><circle cx='%.1f' cy='%.1f' r='3.5'/>", x + 4, y - 4)
      << format("<text x='%.1f' y='%.1f'>measured long</text>", x + 14, y)
      << format("<circle cx='%.1f' cy='%.1f' r='2'/>", x + 114, y - 4)
      << format("<text x='%.1f' y='%.1f'>measured shortly</text>", x + 122, y)
      << format("<circle cx='%.1f' cy='%.1f' r='3.5' fill-opacity='0.35'/>", x + 234, y - 4)
      << format("<text x='%.1f' y='%.1f'>given up: too slow</text>", x + 244, y)
      << format("<text x='%.1f' y='%.1f'>× failed</text>", x + 366, y)
      << format("<path d='M%.1f %.1fh24' stroke='#555'/>", x + 434, y - 4)
      << format("<text x='%.1f' y='%.1f'>the best so far</text></g>\n", x + 464, y);
}

static void drawDot(raw_ostream &svg, double x, double y, size_t shape, const Measurement &each) {
  svg << format("<circle cx='%.1f' cy='%.1f' r='%g' fill='%s'", x, y, each.effort >= 2 ? 3.5 : 2.0,
                colorOf(shape))
      << (each.status == "slow" ? " fill-opacity='0.35'" : "") << "><title>" << escape(each.shape)
      << " " << escape(each.config) << format(": %.4g ms", each.milliseconds)
      << "</title></circle>\n";
}

std::string toSvg(const TuneLog &log, StringRef title) {
  std::vector<std::string> shapes, configs;
  std::map<std::string, double> best;
  double total = 0;
  for (const Measurement &each : log.getMeasurements()) {
    total += each.seconds;
    if (!is_contained(shapes, each.shape))
      shapes.push_back(each.shape);
    if (!is_contained(configs, each.config))
      configs.push_back(each.config);
    if (each.isTimed())
      if (auto [known, isNew] = best.try_emplace(each.shape, each.milliseconds); !isNew)
        known->second = std::min(known->second, each.milliseconds);
  }
  std::string text;
  raw_string_ostream svg(text);
  Panel time{70, 84, 820, 250, total}, all{70, 424, 820, 250, double(configs.size())};
  // Labels stand right of the panels, and the picture is as wide as the longest needs.
  double widest = widthOf("00. defaults");
  for (const std::string &shape : shapes)
    widest = std::max(widest, 20 + widthOf(shape + ": 0.0000 ms"));
  for (const std::string &config : configs)
    widest = std::max(widest, widthOf("00. " + config));
  double width = std::max(900 + widest + 20, widthOf(title) * 16 / 12 + 90);
  svg << format("<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' "
                "viewBox='0 0 %.0f %.0f' ",
                width, 720.0, width, 720.0)
      << "font-family='sans-serif' font-size='12'>\n"
      << "<rect width='100%' height='100%' fill='white'/>\n<text x='70' y='24' font-size='16'>"
      << escape(title) << "</text>\n";
  drawLegend(svg, 70, 50);

  drawAxes(svg, time, "time over the best at its shape, by the time of the search");
  double now = 0;
  std::map<std::string, std::pair<double, std::string>> lines; // best so far, and its line
  for (const Measurement &each : log.getMeasurements()) {
    now += each.seconds;
    size_t shape = find(shapes, each.shape) - shapes.begin();
    if (!each.isTimed()) {
      svg << format("<text x='%.1f' y='%.1f' fill='%s'>×<title>", time.x(now) - 4, time.top + 6,
                    colorOf(shape))
          << escape(each.shape) << " " << escape(each.config) << ": " << escape(each.reason)
          << "</title></text>\n";
      continue;
    }
    double ratio = each.milliseconds / best[each.shape];
    drawDot(svg, time.x(now), time.y(ratio), shape, each);
    auto &[least, line] = lines.try_emplace(each.shape, INFINITY, "").first->second;
    if (ratio < least) {
      raw_string_ostream step(line);
      if (line.empty())
        step << format("M%.1f %.1f", time.x(now), time.y(ratio));
      else
        step << format("H%.1fV%.1f", time.x(now), time.y(ratio));
      least = ratio;
    }
  }
  for (size_t s = 0; s < shapes.size(); ++s) {
    if (auto line = lines.find(shapes[s]); line != lines.end())
      svg << "<path fill='none' stroke='" << colorOf(s) << "' d='" << line->second.second
          << format("H%.1f", time.x(total)) << "'/>\n";
    svg << format("<circle cx='910' cy='%.1f' r='4' fill='%s'/>", time.top + 6 + 18.0 * double(s),
                  colorOf(s))
        << format("<text x='920' y='%.1f'>", time.top + 10 + 18.0 * double(s)) << escape(shapes[s]);
    if (best.count(shapes[s]))
      svg << format(": %.4g ms", best[shapes[s]]);
    svg << "</text>\n";
  }
  svg << format("<text x='%.1f' y='%.1f' text-anchor='end'>%.1f s</text>\n", time.left + time.width,
                time.top + time.height + 18, total);

  // Configurations by the geometric mean of what they have.
  std::vector<std::pair<double, std::string>> order;
  for (const std::string &config : configs) {
    double sum = 0;
    size_t count = 0;
    for (const std::string &shape : shapes)
      if (const Measurement *found = log.findBest(config, shape); found && found->isTimed()) {
        sum += std::log(found->mean / best[shape]);
        ++count;
      }
    order.push_back({count ? sum / double(count) : INFINITY, config});
  }
  llvm::stable_sort(order, [](const auto &a, const auto &b) { return a.first < b.first; });
  drawAxes(svg, all,
           "configurations, by their geometric mean over the shapes at which they were measured");
  for (size_t c = 0; c < order.size(); ++c)
    for (size_t s = 0; s < shapes.size(); ++s)
      if (const Measurement *found = log.findBest(order[c].second, shapes[s]);
          found && found->isTimed())
        drawDot(svg, all.x(double(c) + 0.5), all.y(found->mean / best[shapes[s]]), s, *found);
  for (size_t c = 0; c < std::min<size_t>(order.size(), 12); ++c)
    svg << format("<text x='900' y='%.1f'>%zu. ", all.top + 6 + 18 * double(c), c + 1)
        << escape(order[c].second.empty() ? "defaults" : order[c].second) << "</text>\n";
  svg << "</svg>\n";
  return text;
}

} // namespace tile
