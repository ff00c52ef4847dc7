// SPDX-License-Identifier: Apache-2.0
// Two-dimensional fat tree with dead leaves for BookSim2.
#include "kfat2d.hpp"

#include <sstream>

#include "booksim.hpp"
#include "random_utils.hpp"

namespace {

struct Fabric {
  int rows, columns, hosts, planes;
  vector<bool> alive;      // by leaf
  vector<int> live;        // leaves, in order
  vector<int> live_index;  // by leaf; of dead ones -1

  int leaves() const { return rows * columns; }
  int leaf(int x, int y) const { return x + columns * y; }
  bool lives(int x, int y) const { return alive[leaf(x, y)]; }
  /// Ports of a leaf: hosts (none on dead ones), planes of the row, planes of the column.
  int own(int leaf) const { return alive[leaf] ? hosts : 0; }
} fabric;

int pick(const vector<int>& options) { return options[RandomInt(static_cast<int>(options.size()) - 1)]; }

/// Leaves in this row other than x and the destination's column, that lead on to its row.
int backup_column(int y, int xd, int yd) {
  vector<int> options;
  for (int x = 0; x < fabric.columns; ++x)
    if (x != xd && fabric.lives(x, y) && fabric.lives(x, yd)) options.push_back(x);
  return pick(options);
}

int leaf_output(int leaf, bool row) {
  return fabric.own(leaf) + (row ? 0 : fabric.planes) + RandomInt(fabric.planes - 1);
}

/// Output port; vc is raised where a packet turns from column to row.
int way(int router, int input, int node, int& vc) {
  const int to = fabric.live[node / fabric.hosts], xd = to % fabric.columns, yd = to / fabric.columns;
  if (router >= fabric.leaves()) {
    const int number = (router - fabric.leaves()) / fabric.planes;
    if (number >= fabric.rows) return yd;
    return fabric.lives(xd, number) ? xd : backup_column(number, xd, yd);
  }
  if (router == to) return node % fabric.hosts;
  const int x = router % fabric.columns, y = router / fabric.columns, own = fabric.own(router);
  if (input >= own + fabric.planes) {
    vc = 1;
    return leaf_output(router, true);
  }
  if (input >= own) return leaf_output(router, false);
  vc = 0;
  if (x == xd) return leaf_output(router, false);
  const bool row_first = y == yd || fabric.lives(xd, y) || !fabric.lives(x, yd);
  return leaf_output(router, row_first);
}

}  // namespace

KFat2D::KFat2D(const Configuration& config, const string& name) : Network(config, name) {
  _ComputeSize(config);
  _Alloc();
  _BuildNet(config);
}

void KFat2D::_ComputeSize(const Configuration& config) {
  fabric.rows = config.GetInt("kfat_rows");
  fabric.columns = config.GetInt("kfat_columns");
  fabric.hosts = config.GetInt("kfat_hosts");
  fabric.planes = config.GetInt("kfat_planes");
  fabric.alive.assign(fabric.leaves(), true);
  const vector<int> faults = config.GetIntArray("kfat_faults");
  for (size_t i = 0; i + 1 < faults.size(); i += 2) fabric.alive[fabric.leaf(faults[i], faults[i + 1])] = false;
  for (int leaf = 0; leaf < fabric.leaves(); ++leaf)
    if (fabric.alive[leaf]) fabric.live.push_back(leaf);
  _size = fabric.leaves() + (fabric.rows + fabric.columns) * fabric.planes;
  _nodes = static_cast<int>(fabric.live.size()) * fabric.hosts;
  _channels = fabric.leaves() * fabric.planes * 4;
}

void KFat2D::_BuildNet(const Configuration& config) {
  const auto make = [&](int id, int ports) {
    ostringstream name;
    name << "router_" << id;
    _routers[id] = Router::NewRouter(config, this, name.str(), id, ports, ports);
    _timed_modules.push_back(_routers[id]);
  };
  int node = 0;
  for (int leaf = 0; leaf < fabric.leaves(); ++leaf) {
    make(leaf, fabric.own(leaf) + 2 * fabric.planes);
    for (int host = 0; host < fabric.own(leaf); ++host, ++node) {
      _inject[node]->SetLatency(1);
      _inject_cred[node]->SetLatency(1);
      _eject[node]->SetLatency(1);
      _eject_cred[node]->SetLatency(1);
      _routers[leaf]->AddInputChannel(_inject[node], _inject_cred[node]);
      _routers[leaf]->AddOutputChannel(_eject[node], _eject_cred[node]);
    }
  }
  const int latency = config.GetInt("kfat_latency");
  int channel = 0;
  const auto join = [&](int from, int to) {
    _chan[channel]->SetLatency(latency);
    _chan_cred[channel]->SetLatency(latency);
    _routers[from]->AddOutputChannel(_chan[channel], _chan_cred[channel]);
    _routers[to]->AddInputChannel(_chan[channel], _chan_cred[channel]);
    ++channel;
  };
  for (int line = 0; line < fabric.rows + fabric.columns; ++line) {
    const bool row = line < fabric.rows;
    for (int plane = 0; plane < fabric.planes; ++plane) {
      const int root = fabric.leaves() + line * fabric.planes + plane;
      make(root, row ? fabric.columns : fabric.rows);
      for (int port = 0; port < (row ? fabric.columns : fabric.rows); ++port) {
        const int leaf = row ? fabric.leaf(port, line) : fabric.leaf(line - fabric.rows, port);
        join(root, leaf);
        join(leaf, root);
      }
    }
  }
}

void KFat2D::RegisterRoutingFunctions() {
  gRoutingFunctionMap["vtftr_kfat2d"] = &vtftr_kfat2d;
  gRoutingFunctionMap["free_kfat2d"] = &free_kfat2d;
}

/// VC 0, and 1 behind a turn from column to row.
void vtftr_kfat2d(const Router* router, const Flit* flit, int input, OutputSet* outputs, bool inject) {
  outputs->Clear();
  int vc = inject ? 0 : flit->vc;
  const int port = inject ? -1 : way(router->GetID(), input, flit->dest, vc);
  outputs->AddRange(port, vc, vc);
}

/// Any VC: without faults no packet turns from column to row.
void free_kfat2d(const Router* router, const Flit* flit, int input, OutputSet* outputs, bool inject) {
  outputs->Clear();
  int vc = 0;
  const int port = inject ? -1 : way(router->GetID(), input, flit->dest, vc);
  outputs->AddRange(port, 0, gNumVCs - 1);
}
