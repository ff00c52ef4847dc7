// SPDX-License-Identifier: Apache-2.0
// The parameterisations compiled in; CMake writes their list (rdma_builds.inc), one WEFT_RDMA_BUILD(name,
// parameters) each.
#include <sstream>
#include <stdexcept>

#include "rdma_model.hpp"

namespace weft::tb {

#define WEFT_RDMA_BUILD(name, parameters)                                                         \
  std::unique_ptr<RdmaModel> make_rdma_##name(const RdmaBuild& build, SimulationContext& context, \
                                              const std::string& instance);
#include "rdma_builds.inc"
#undef WEFT_RDMA_BUILD

namespace {

using Maker = std::unique_ptr<RdmaModel> (*)(const RdmaBuild&, SimulationContext&, const std::string&);

struct Entry {
  const char* name;
  const char* parameters;
  Maker make;
};

constexpr Entry entries[] = {
#define WEFT_RDMA_BUILD(name, parameters) {#name, parameters, make_rdma_##name},
#include "rdma_builds.inc"
#undef WEFT_RDMA_BUILD
};

void set_parameter(RdmaBuild& build, const std::string& name, uint32_t value) {
  rdma::Params& params = build.params;
  if (name == "WINDOW") {
    params.window = value;
  } else if (name == "N_RX_CTX") {
    params.n_rx_ctx = value;
  } else if (name == "N_TX_CTX") {
    params.n_tx_ctx = value;
  } else if (name == "PAYLOAD") {
    params.payload = value;
  } else if (name == "PIDX_W") {
    params.pidx_bits = value;
  } else if (name == "SID_W") {
    params.sid_bits = value;
  } else if (name == "MSGID_W") {
    params.msgid_bits = value;
  } else if (name == "NODE_W") {
    params.node_bits = value;
  } else if (name == "ADDR_W") {
    params.addr_bits = value;
  } else if (name == "DATA_W") {
    build.data_bytes = value / 8;
  } else if (name == "RESEND_DEPTH") {
    build.resend_depth = value;
  } else if (name == "POST_DEPTH") {
    build.post_depth = value;
  } else if (name == "BURSTS") {
    build.bursts = value;
  } else if (name == "N_SOURCES") {
    params.n_sources = value;
  } else if (name == "N_REGIONS") {
    params.n_regions = value;
  } else if (name == "N_QUEUES") {
    build.queues = value;
    params.n_queues = value;
  } else if (name == "TRANSFERS") {
    params.transfers = value != 0;
  } else if (name == "N_TICKETS") {
    params.n_tickets = value;
  } else if (name == "MAX_ANSWERS") {
    build.max_answers = value;
  } else if (name == "FETCH") {
    build.fetch = value;
  } else if (name == "READS" || name == "N_REQUESTS" || name == "N_GROUPS" || name == "N_MEMBERS" ||
             name == "N_NODES" || name == "IN_DEPTH") {
    // nothing that is seen of RDMA depends on these
  } else if (name == "SCHEME") {
    params.scheme = static_cast<rdma::Scheme>(value);
  } else if (name == "N_SEND_BUFFERS") {
    params.n_send_buffers = value;
  } else if (name == "CID_W") {
    params.cid_bits = value;
  } else {
    throw std::logic_error("unknown parameter " + name);
  }
}

RdmaBuild make_build(const Entry& entry) {
  RdmaBuild build;
  build.name = entry.name;
#ifdef WEFT_BARE
  build.asserted = false;
#endif
  std::istringstream words(entry.parameters);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    set_parameter(build, word.substr(0, equals), static_cast<uint32_t>(std::stoul(word.substr(equals + 1))));
  }
  return build;
}

std::vector<RdmaBuild> make_builds() {
  std::vector<RdmaBuild> builds;
  for (const Entry& entry : entries) builds.push_back(make_build(entry));
  return builds;
}

}  // namespace

const std::vector<RdmaBuild>& rdma_builds() {
  static const std::vector<RdmaBuild> builds = make_builds();
  return builds;
}

const RdmaBuild* find_rdma_build(const std::string& name) {
  for (const RdmaBuild& build : rdma_builds()) {
    if (build.name == name) return &build;
  }
  return nullptr;
}

std::unique_ptr<RdmaModel> make_rdma_model(const RdmaBuild& build, SimulationContext& context,
                                           const std::string& name) {
  for (const Entry& entry : entries) {
    if (build.name == entry.name) return entry.make(build, context, name);
  }
  throw std::invalid_argument("no such build: " + build.name);
}

}  // namespace weft::tb
