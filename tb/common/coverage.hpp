// SPDX-License-Identifier: Apache-2.0
// Notes which bits and lines of the RTL a program's simulations exercise, for builds with WEFT_COVERAGE
// (`make code-coverage`).
//
// Verilator's own toggle coverage makes some 130 MB of C++ of one NIC. So the RTL's signals are only made
// public (tests/coverage/public.vlt), and looked at here before each rising clock edge, as flops do. A bit is
// hit if it has risen and fallen within one simulation, start values and the first reset left out. Lines are
// Verilator's. One file for each process, in the folder WEFT_COVERAGE_DIR; without that nothing is noted.
#pragma once

#include <errno.h>  // program_invocation_short_name, of glibc
#include <unistd.h>
#include <verilated.h>
#include <verilated_cov.h>
#include <verilated_syms.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::tb {

/// Of all simulations of this process; written when it ends.
class CoverageTotals {
 public:
  struct Signal {
    int width = 0;
    std::vector<uint32_t> hit;  // 32 bits each
  };

  static CoverageTotals& get() {
    static CoverageTotals totals;
    return totals;
  }

  bool wanted() const { return !folder_.empty(); }

  /// Instance, space, signal.
  void add_bits(const std::string& signal, int width, const std::vector<uint32_t>& hit) {
    const std::lock_guard lock{mutex_};
    Signal& total = signals_[signal];
    // tops of several sizes may share the name: the widest counts, and none cuts off what another one has hit
    total.width = std::max(total.width, width);
    total.hit.resize(std::max(total.hit.size(), hit.size()));
    for (size_t i = 0; i < hit.size(); ++i) total.hit[i] |= hit[i];
  }

  /// All lines of this context: to be called while all its tops still exist, as it forgets them.
  void add_lines(VerilatedContext& context) {
    const std::lock_guard lock{mutex_};
    const std::string file = this->file() + ".part";
    context.coveragep()->write(file.c_str());
    context.coveragep()->clear();
    std::ifstream records{file};
    for (std::string record; std::getline(records, record);) {
      const size_t end = record.rfind(' ');
      if (record.front() == 'C' && end != std::string::npos)
        lines_[record.substr(0, end)] += std::stoull(record.substr(end));
    }
    std::remove(file.c_str());
  }

  CoverageTotals(const CoverageTotals&) = delete;
  CoverageTotals& operator=(const CoverageTotals&) = delete;

 private:
  CoverageTotals() {
    if (const char* folder = std::getenv("WEFT_COVERAGE_DIR")) folder_ = folder;
  }
  ~CoverageTotals() {
    if (wanted()) write();
  }

  std::string file() const {
    return folder_ + "/" + program_invocation_short_name + "." + std::to_string(getpid());
  }

  void write() const {
    const std::string name = file() + ".cov";
    std::FILE* out = std::fopen(name.c_str(), "w");
    if (!out) {
      std::perror(name.c_str());
      std::_Exit(1);
    }
    for (const auto& [record, count] : lines_)
      std::fprintf(out, "%s %llu\n", record.c_str(), static_cast<unsigned long long>(count));
    for (const auto& [name_of, signal] : signals_) {
      std::fprintf(out, "B %s %d ", name_of.c_str(), signal.width);
      for (size_t i = signal.hit.size(); i-- > 0;)
        std::fprintf(out, "%08x", static_cast<unsigned>(signal.hit[i]));
      std::fputc('\n', out);
    }
    if (std::fclose(out) != 0) std::_Exit(1);
  }

  std::mutex mutex_;
  std::string folder_;
  std::map<std::string, uint64_t> lines_;
  std::map<std::string, Signal> signals_;
};

/// The public signals of one top.
class SignalCoverage {
 public:
  SignalCoverage(VerilatedContext& context, const std::string& top) : context_(context) {
    if (!CoverageTotals::get().wanted()) return;
    for (const auto& [name, scope] : *context.scopeNameMap()) {
      const std::string path = name;
      if (!scope->varsp() || path.rfind(top + ".", 0) != 0) continue;
      for (auto& [variable_name, variable] : *scope->varsp()) {
        if (variable.isParam() || variable.udims() > 0) continue;
        add(path.substr(top.size() + 1) + " " + variable_name, variable);
      }
    }
  }

  ~SignalCoverage() {
    CoverageTotals& totals = CoverageTotals::get();
    if (!totals.wanted()) return;
    totals.add_lines(context_);
    std::apply([&](const auto&... of_type) { (hand_over(of_type), ...); }, signals_);
  }

  SignalCoverage(const SignalCoverage&) = delete;
  SignalCoverage& operator=(const SignalCoverage&) = delete;

  /// Before each rising clock edge.
  void sample(bool in_reset) {
    started_ = started_ || !in_reset;
    std::apply([&](auto&... of_type) { (look(of_type), ...); }, signals_);
  }

 private:
  template <typename Word>
  struct Watched {
    const Word* now;
    Word before, rose, fell;
  };
  template <typename Word>
  struct OfType {
    std::vector<Watched<Word>> words;
    std::vector<std::pair<std::string, int>> names;  // and their widths, in the order of their words
  };

  void add(const std::string& name, const VerilatedVar& variable) {
    const int width = variable.dims() > 0 ? variable.packed().elements() : 1;
    switch (variable.vltype()) {
      case VLVT_UINT8:
        watch<CData>(name, variable, width);
        break;
      case VLVT_UINT16:
        watch<SData>(name, variable, width);
        break;
      case VLVT_UINT32:
      case VLVT_WDATA:
        watch<IData>(name, variable, width);
        break;
      case VLVT_UINT64:
        watch<QData>(name, variable, width);
        break;
      default:
        throw std::runtime_error(name + ": no bits");
    }
  }

  template <typename Word>
  static int word_bits() {
    return 8 * static_cast<int>(sizeof(Word));
  }

  template <typename Word>
  void watch(const std::string& name, const VerilatedVar& variable, int width) {
    auto& [words, names] = std::get<OfType<Word>>(signals_);
    names.emplace_back(name, width);
    for (int i = 0; i < (width + word_bits<Word>() - 1) / word_bits<Word>(); ++i)
      words.push_back({static_cast<const Word*>(variable.datap()) + i, 0, 0, 0});
  }

  template <typename Word>
  void look(OfType<Word>& of_type) {
    // every clock, so this may not take long, not even in a debug build
    Watched<Word>* const end = of_type.words.data() + of_type.words.size();
    for (Watched<Word>* word = of_type.words.data(); word != end; ++word) {
      const Word now = *word->now;
      if (now == word->before) continue;
      if (started_) {
        word->rose |= now & ~word->before;
        word->fell |= word->before & ~now;
      }
      word->before = now;
    }
  }

  template <typename Word>
  static void hand_over(const OfType<Word>& of_type) {
    auto word = of_type.words.begin();
    for (const auto& [name, width] : of_type.names) {
      std::vector<uint32_t> hit;
      for (int done = 0; done < width; done += word_bits<Word>(), ++word) {
        const uint64_t both = word->rose & word->fell;
        hit.push_back(static_cast<uint32_t>(both));
        if (sizeof(Word) == 8) hit.push_back(static_cast<uint32_t>(both >> 32));
      }
      CoverageTotals::get().add_bits(name, width, hit);
    }
  }

  VerilatedContext& context_;
  std::tuple<OfType<CData>, OfType<SData>, OfType<IData>, OfType<QData>> signals_;
  bool started_ = false;
};

}  // namespace weft::tb
