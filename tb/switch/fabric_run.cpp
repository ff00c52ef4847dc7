// SPDX-License-Identifier: Apache-2.0
// A whole fabric of lookup blocks with the tables of the generators.
#include "switch/fabric_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "fabric/random.hpp"
#include "switch/fabric_judge.hpp"
#include "switch/tree_parts.hpp"
#include "switchtables/image_folder.hpp"

namespace weft::tb {

namespace {

using switchtables::Fabric;
using switchtables::Faults;
using switchtables::Images;
using switchtables::Plan;

constexpr uint64_t packets_at_once = 1u << 16;
constexpr uint64_t batches_of_an_update = 64;
constexpr uint64_t first_batch = 8, last_batch = 32;  // in which updates begin
constexpr uint32_t idle_clocks = 2048;                // of a switch with an update under way, between rounds

/// Pairs of different hosts: every one, in order or in one that leads all over the fabric, or a sample.
class Pairs {
 public:
  Pairs(uint64_t hosts, uint64_t most, bool all_over)
      : hosts_(hosts), pairs_(hosts * (hosts - 1)), count_(std::min(pairs_, most)), stride_(1) {
    if (all_over && pairs_ > 0) stride_ = pairs_ * 5 / 8 | 1;
    while (pairs_ > 0 && std::gcd(stride_, pairs_) != 1) stride_ += 2;
  }
  uint64_t pairs() const { return pairs_; }
  uint64_t count() const { return count_; }
  Sent pair(uint64_t number, RandomStream& random) const {
    const uint64_t pair = count_ < pairs_ ? random.below(pairs_) : number * stride_ % pairs_;
    const auto from = static_cast<uint32_t>(pair / (hosts_ - 1));
    const auto to = static_cast<uint32_t>(pair % (hosts_ - 1));
    return {false, false, from, to + (to >= from)};
  }

 private:
  uint64_t hosts_, pairs_, count_, stride_;
};

class Run {
 public:
  explicit Run(const FabricConfig& config)
      : config_(config),
        whole_(config.topology),
        whole_groups_(switchtables::load_groups(config.groups, config.topology, whole_)),
        sizes_(block_sizes(whole_.most_ports(), config.per_port)),
        random_(config.seed) {
    const uint32_t sets = config.update ? 2 : 1;
    colours_ = config.colours != 0 ? config.colours : sizes_.colours / sets;
    if (colours_ * sets > sizes_.colours)
      throw Fault(fmt::format("{} colors{}: the lookup blocks have {} entries", colours_,
                              config.update ? ", and as many others for the update" : "", sizes_.colours));
  }

  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  FabricResult run() {
    stand(config_.known);
    new_ = grow(1, 0, 0);
    if (!config_.images.empty()) take_images_of_files();
    tell_sizes();
    promise_ = least_hops(fabric(), site_->hops);
    if (fabric().grid() && config_.known) promise_ = promise_of_routes({&*new_->plan.routes});
    RandomStream flaws(config_.seed);
    spoil(new_->plan.images, fabric(), sizes_, config_.flaw, flaws);
    if (config_.flaw == Flaw::promise) promise_.spoil(fabric(), flaws);
    make_blocks();
    if (config_.flaw == Flaw::model) spoil_a_model(flaws);
    pass_over_all("tables loaded");
    if (config_.update) {
      update();
      pass_over_all("tables updated");
    }
    for (const auto& block : blocks_)
      if (block) result_.clocks += block->clocks();
    return std::move(result_);
  }

 private:
  const Fabric& fabric() const { return site_->fabric; }

  // ---------------------------------------------------------------------------------------------- tables
  void stand(const std::optional<Faults>& faults) {
    site_ = std::make_shared<Site>(faults ? whole_.alive_of(*faults) : whole_, config_.threads);
    groups_ = switchtables::live_groups(whole_groups_, fabric());
    health_.reset();
    if (fabric().grid())
      health_ =
          faults ? health_of(*fabric().grid(), whole_.graph(), *faults) : route::Health(*fabric().grid());
    parts_.clear();
  }

  std::unique_ptr<Generation> grow(uint32_t version, uint32_t first_colour, uint32_t choice) {
    switchtables::PlanOptions options;
    options.sizes = sizes_;
    options.first_colour = first_colour;
    options.colours = colours_;
    options.version = version;
    options.choice = choice;
    options.routes = config_.routes;
    // Tables with new faults mix better with old ones that lead the same way.
    if (choice != 0 && !config_.later) options.routes.first = route::Dimension::column;
    options.threads = config_.threads;
    options.seed = config_.seed;
    auto made = std::make_unique<Generation>();
    made->site = site_;
    made->plan = make_plan(fabric(), site_->hops, groups_, health_, options);
    result_.colours = std::max(result_.colours, made->plan.colours);
    result_.merged_groups = std::max(result_.merged_groups, merged_groups(made->plan));
    return made;
  }

  /// What is promised and who is to get what stays as planned here.
  void take_images_of_files() {
    Plan& plan = new_->plan;
    plan.images = switchtables::read_images(config_.images, plan.images, fabric(), sizes_);
    const auto colours = switchtables::read_colours(config_.images, groups_, sizes_);
    for (uint32_t group = 0; group < groups_.count(); ++group)
      plan.tables.groups[group].colour = colours[group];
    std::set<uint32_t> used(colours.begin(), colours.end());
    used.erase(mcast::none);
    result_.colours = static_cast<uint32_t>(used.size());
  }

  void tell_sizes() {
    result_.block_ports = sizes_.ports;
    result_.switches = fabric().graph().switches();
    result_.hosts = fabric().graph().hosts();
    result_.left_out = whole_.left_out();
    result_.groups = groups_.count();
  }

  Promise promise_of_routes(const std::vector<const route::Tables*>& mixture) const {
    return promise_of(fabric(), mixture, *health_);
  }

  void make_blocks() {
    blocks_.resize(whole_.graph().switches());
    for (uint32_t sw = 0; sw < fabric().graph().switches(); ++sw) {
      auto& block = blocks_[fabric().whole_switch(sw)];
      block = config_.rtl ? verilated_block(sizes_, config_.seed + sw) : golden_block(sizes_);
      if (!config_.traces.empty()) block->open_traces(config_.traces, fabric().whole_switch(sw));
      const switch_lookup::Image& image = new_->plan.images[sw];
      block->load(image.head.switch_id, write_image(image));
    }
    see_what_is_alive();
  }

  LookupBlock& block(uint32_t sw) { return *blocks_[fabric().whole_switch(sw)]; }

  void spoil_a_model(RandomStream& random) {
    if (!config_.rtl) throw Fault("a flaw of the model shows beside RTL only");
    Images images = new_->plan.images;
    spoil(images, fabric(), sizes_, Flaw::bit, random);
    for (uint32_t sw = 0; sw < fabric().graph().switches(); ++sw)
      if (images[sw] != new_->plan.images[sw]) block(sw).spoil_model(images[sw]);
  }

  void see_what_is_alive() {
    for (uint32_t sw = 0; sw < fabric().graph().switches(); ++sw) block(sw).set_alive(fabric().alive(sw));
  }

  // ---------------------------------------------------------------------------------------------- packets
  void pass_over_all(const std::string& name) {
    FabricPass pass;
    pass.name = name;
    send_all(
        pass, 1, false, [](uint64_t) {}, [] {});
    result_.passes.push_back(pass);
  }

  /// A packet from every member of every group, and for every pair of hosts, or as many as are wanted, in
  /// batches that fly together.
  /// @param all_over in an order in which all switches have something to do all the time
  /// @param before is told of each batch which one it is; between: before each round of lookups
  void send_all(FabricPass& pass, uint64_t batches, bool all_over,
                const std::function<void(uint64_t)>& before, const std::function<void()>& between) {
    std::vector<Sent> multicast = packets_of_groups();
    if (all_over) shuffle(multicast);
    const Pairs pairs(fabric().graph().hosts(), config_.most_pairs, all_over);
    pass.pairs = pairs.pairs();
    pass.lossy = promise_.lossy(fabric());
    batches = std::max(batches, (multicast.size() + pairs.count()) / packets_at_once + 1);
    Packets packets(fabric(), blocks_, config_.threads);
    uint64_t groups_sent = 0, pairs_sent = 0;
    for (uint64_t batch = 0; batch < batches; ++batch) {
      before(batch);
      for (; groups_sent < multicast.size() * (batch + 1) / batches; ++groups_sent)
        inject_multicast(packets, multicast[groups_sent]);
      for (; pairs_sent < pairs.count() * (batch + 1) / batches; ++pairs_sent)
        inject_unicast(packets, pairs.pair(pairs_sent, random_));
      fly(packets, pass, between);
    }
    pass.lookups = packets.lookups();
  }

  std::vector<Sent> packets_of_groups() const {
    std::vector<Sent> packets;
    for (uint32_t group = 0; group < groups_.count(); ++group)
      if (!groups_.is_local(group))
        for (const uint32_t member : groups_.members(group)) packets.push_back({true, false, member, group});
    return packets;
  }

  template <typename Item>
  void shuffle(std::vector<Item>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random_.below(i)]);
  }

  void inject_multicast(Packets& packets, Sent sent) {
    sent.by_old_tree = keeps_to_old_tree(sent.to);
    const Generation& trees = sent.by_old_tree ? *old_ : *new_;
    packets.inject(sent.from, switchtables::multicast_in(trees.use(sent.to).colour),
                   static_cast<uint32_t>(sent_.size()));
    sent_.push_back(sent);
  }

  void inject_unicast(Packets& packets, const Sent& sent) {
    packets.inject(sent.from, switchtables::unicast_to(fabric(), sent.to),
                   static_cast<uint32_t>(sent_.size()));
    sent_.push_back(sent);
  }

  void fly(Packets& packets, FabricPass& pass, const std::function<void()>& between) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    Clock::duration not_looked_up{};
    packets.run([&] {
      const auto before = Clock::now();
      between();
      not_looked_up += Clock::now() - before;
    });
    result_.seconds += std::chrono::duration<double>(Clock::now() - start - not_looked_up).count();
    judge_.judge({fabric(), groups_, promise_, *new_, old_.get(), parts_, config_.merged}, sent_, packets,
                 pass);
    sent_.clear();
  }

  // ---------------------------------------------------------------------------------------------- update
  /// In two steps (docs/switch.md, "Replacing tables"): new trees beside the old ones, with other colours,
  /// and the new unicast tables; then, when nobody sends by old trees any more, images without these.
  void update() {
    old_ = std::move(new_);
    if (config_.later) {
      stand(config_.later);
      see_what_is_alive();
      parts_ = parts_of_old_trees();
    }
    new_ = grow(2, colours_, 1);
    const Images before = old_images();
    tell_changes(before);
    promise_ = promise_of_mixture(before);
    Images both = new_->plan.images;
    switchtables::add_trees(both, before);
    replace("new trees come in", both);
    promise_ = least_hops(fabric(), site_->hops);
    if (fabric().grid() && config_.later) promise_ = promise_of_routes({&*new_->plan.routes});
    old_.reset();
    for (auto& image : new_->plan.images) image.head.table_version = 3;
    replace("old trees go", new_->plan.images);
  }

  /// As Wanted::parts.
  std::vector<std::vector<uint32_t>> parts_of_old_trees() const {
    std::vector<std::vector<uint32_t>> parts(groups_.count());
    for (uint32_t group = 0; group < groups_.count(); ++group)
      if (!groups_.is_local(group))
        parts[group] = parts_of(old_->tree(group), old_->site->fabric, fabric(), groups_.members(group));
    return parts;
  }

  /// Images of the switches that are left.
  Images old_images() const {
    std::vector<uint32_t> number(whole_.graph().switches());
    for (uint32_t sw = 0; sw < old_->plan.images.size(); ++sw)
      number[old_->site->fabric.whole_switch(sw)] = sw;
    Images images;
    for (uint32_t sw = 0; sw < fabric().graph().switches(); ++sw)
      images.push_back(old_->plan.images[number[fabric().whole_switch(sw)]]);
    return images;
  }

  /// Most must be others, or an update would show nothing.
  void tell_changes(const Images& before) {
    for (uint32_t sw = 0; sw < before.size(); ++sw) {
      const auto& after = new_->plan.images[sw];
      const bool unicast = before[sw].unicast != after.unicast;
      result_.unicast_changed += unicast;
      result_.images_changed += unicast || before[sw].multicast != after.multicast;
    }
    for (uint32_t group = 0; group < groups_.count(); ++group)
      result_.trees_changed += !groups_.is_local(group) && ends_of(old_->tree(group), old_->site->fabric) !=
                                                               ends_of(new_->tree(group), fabric());
    if (result_.images_changed * 2 <= before.size())
      judge_.say(fmt::format("only {} of {} images differ from those before", result_.images_changed,
                             before.size()));
  }

  Promise promise_of_mixture(const Images& before) {
    if (fabric().grid()) return promise_of_routes({&*old_->plan.routes, &*new_->plan.routes});
    if (!config_.later) return least_hops(fabric(), site_->hops);
    const std::vector<const Images*> mixture{&before, &new_->plan.images};
    return promise_of(fabric(), mixture, sizes_);
  }

  /// A group goes over once all switches of its new tree have it; then its members send by either.
  bool keeps_to_old_tree(uint32_t group) {
    if (!old_) return false;
    if (config_.flaw == Flaw::hasty) return false;
    const auto& switches = new_->tree(group).switches;
    if (!std::ranges::all_of(switches, [this](uint32_t sw) { return in_use_[sw]; })) return true;
    return random_.below(2) == 0;
  }

  /// Packets all the time, while one switch after the other, in any order, gets its new image.
  void replace(const std::string& name, const Images& images) {
    FabricPass pass;
    pass.name = name;
    const auto switches = static_cast<uint32_t>(images.size());
    std::vector<uint32_t> order(switches);
    std::iota(order.begin(), order.end(), 0u);
    shuffle(order);
    in_use_.assign(switches, false);
    std::vector<uint64_t> at_start;
    for (uint32_t sw = 0; sw < switches; ++sw) at_start.push_back(block(sw).lookups());
    std::vector<uint32_t> under_way;
    const auto begin_some = [&](uint64_t batch) {
      const uint64_t in_turn = std::clamp(batch, first_batch, last_batch) - first_batch;
      const uint64_t end = switches * in_turn / (last_batch - first_batch);
      for (; pass.updates < end; ++pass.updates) {
        under_way.push_back(order[pass.updates]);
        block(under_way.back()).begin_update(write_image(images[under_way.back()]));
      }
    };
    const auto go_on = [&] {
      for (const uint32_t sw : under_way) block(sw).idle(idle_clocks);
      for (const uint32_t sw : under_way) in_use_[sw] = !block(sw).updating();
      std::erase_if(under_way, [this](uint32_t sw) { return in_use_[sw]; });
    };
    send_all(pass, batches_of_an_update, true, begin_some, go_on);
    for (uint32_t sw = 0; sw < switches; ++sw) {
      const uint64_t at = block(sw).lookups_before();
      pass.updates_in_flight += !block(sw).updating() && at > at_start[sw] && at < block(sw).lookups();
      block(sw).finish_update();
    }
    if (pass.updates_in_flight < config_.in_flight * pass.updates)
      judge_.say(fmt::format("{}: only {} of {} updates came into use between lookups", name,
                             pass.updates_in_flight, pass.updates));
    result_.passes.push_back(pass);
  }

  const FabricConfig& config_;
  Fabric whole_;
  mcast::Groups whole_groups_;
  switch_lookup::Sizes sizes_;
  uint32_t colours_ = 0;  // of one generation of trees
  RandomStream random_;
  std::shared_ptr<const Site> site_;
  std::optional<route::Health> health_;    // of a two-dimensional fat tree
  mcast::Groups groups_;                   // live members
  std::unique_ptr<Generation> old_, new_;  // old: while its trees are in use
  Promise promise_;
  LookupBlocks blocks_;  // none for switches that were dead from the start
  FabricResult result_;
  std::vector<std::vector<uint32_t>> parts_;
  std::vector<bool> in_use_;  // new images
  std::vector<Sent> sent_;
  Judge judge_{result_.findings};
};

}  // namespace

FabricResult run_fabric(const FabricConfig& config) { return Run(config).run(); }

}  // namespace weft::tb
