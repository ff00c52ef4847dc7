// SPDX-License-Identifier: Apache-2.0
// Answers that an engine owes.
#include "expected_answers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weft::tb {

using rdma::formats::Outcome;

void ExpectedAnswers::end(uint16_t sid, uint64_t cycle) {
  const auto context = by_context_.find(sid);
  if (context == by_context_.end()) return;
  owed_.erase(std::ranges::find(owed_, context->second));
  over_.push_back({cycle, context->second});
  by_context_.erase(context);
  while (over_.front().cycle + hidden_answer_clocks < cycle) over_.pop_front();
}

template <typename Which>
uint32_t ExpectedAnswers::owed(Which which) const {
  return static_cast<uint32_t>(std::ranges::count_if(owed_, which));
}

template <typename Which>
uint32_t ExpectedAnswers::owed_or_hidden(Which which, uint64_t cycle) const {
  const auto hidden = std::ranges::count_if(over_, [&](const Over& over) {
    return over.cycle + hidden_answer_clocks >= cycle && which(over.read);
  });
  return owed(which) + static_cast<uint32_t>(hidden);
}

std::optional<std::string> ExpectedAnswers::fault(const ReadId& read, Outcome outcome,
                                                  const AnswerBounds& bounds, uint64_t cycle) const {
  const auto any = [](const ReadId&) { return true; };
  const auto same = [&](const ReadId& other) { return other == read; };
  const auto of_group = [&](const ReadId& other) {
    return other.node % bounds.groups == read.node % bounds.groups;
  };
  switch (outcome) {
    case Outcome::read_taken:
      if (owed(same) != 0) return "READ taken although it is being answered";
      if (owed(any) >= bounds.answers)
        return fmt::format("READ taken although {} are being answered", owed(any));
      if (bounds.quota != 0 && owed(of_group) >= bounds.quota)
        return fmt::format("READ taken although {} of its group are being answered", owed(of_group));
      return std::nullopt;
    case Outcome::drop_asked:
      if (owed_or_hidden(same, cycle) == 0) return "READ dropped although it is not being answered";
      return std::nullopt;
    case Outcome::refuse_answers:
      if (owed_or_hidden(any, cycle) >= bounds.answers) return std::nullopt;
      if (bounds.quota != 0 && owed_or_hidden(of_group, cycle) >= bounds.quota) return std::nullopt;
      return fmt::format("READ refused although only {} are being answered, {} of its group", owed(any),
                         owed(of_group));
    default:
      return std::nullopt;
  }
}

}  // namespace weft::tb
