// SPDX-License-Identifier: Apache-2.0
// Two-dimensional fat tree with dead leaves for BookSim2, to compare model/switchfabric with (docs/route.md).
//
// Options of its own: kfat_rows, kfat_columns, kfat_hosts (of a leaf), kfat_planes, kfat_faults ({x,y,x,y...}),
// kfat_latency (of links between switches, in cycles). Nodes are the hosts of live leaves, in order.
#pragma once

#include "network.hpp"
#include "routefunc.hpp"

class KFat2D : public Network {
 public:
  KFat2D(const Configuration& config, const string& name);
  static void RegisterRoutingFunctions();
  double Capacity() const { return 1; }

 private:
  void _ComputeSize(const Configuration& config);
  void _BuildNet(const Configuration& config);
};

void vtftr_kfat2d(const Router* router, const Flit* flit, int input, OutputSet* outputs, bool inject);
void free_kfat2d(const Router* router, const Flit* flit, int input, OutputSet* outputs, bool inject);
