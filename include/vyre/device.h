#pragma once

// Devices: persistent device memory, compiled kernels, and asynchronous submissions.
// docs/driver.md explains their use.
//
//   driver::Device       one device, opened by name: "auto", "interp", "cpu", "cuda:1". A handle;
//                        copies mean the same device.
//   driver::Buffer       memory on it. Allocated as zeros, freed by hand or with the device.
//   driver::TypedBuffer  the same with an element type: allocate<float>(n), upload(x, xs),
//                        read_back(y, ys). Launches compare it with the parameter's.
//   driver::Argument     a buffer or a number. Numbers carry their type, and are converted to the
//                        parameter's where that is exact.
//   driver::Executable   a program that is ready to run there: from the compiler, or from the
//                        cache
//   driver::GraphExecutable  a graph that is planned, compiled and has its memory; docs/plans.md
//   driver::Ticket       the end of a submission: wait() returns times, or errors
//   driver::run          runs one kernel from host bytes to host bytes, with all of the above
//                        inside
//   driver::run_graph    the same for a graph
//   driver::probe_all    lists the available backends, their devices, and why others are
//                        unavailable
//
// A submission is a list of Upload, Readback, Copy, Fill, Launch and LaunchGraph commands that run
// in order. Submissions to one stream run one after the other; those of different streams wait for
// each other where they share a buffer that one of them writes.
//
// Unlike all other objects in vyre these have a lifetime: a Device closes when its last handle and
// ticket are destroyed. All functions may be called from any thread. Errors are values, as
// elsewhere.
//
//   auto device = vyre::driver::Device::open("auto");
//   if (!device) return fail(device.errors());
//   auto saxpy = device->compile(program);             // checks it, unless options.checked
//   auto x = device->allocate<float>(xs.size()), y = device->allocate<float>(ys.size());
//   …
//   device->submit({vyre::driver::upload(*x, xs)});
//   for (int step = 0; step < 100; ++step)             // returns at once
//     device->submit({vyre::driver::Launch{*saxpy, {2.0f, *x, *y}}});
//   auto ticket = device->submit({vyre::driver::read_back(*y, ys)});
//   auto report = ticket->wait();                      // ys holds the result, or errors() why not

#include "runtime/device.h"
#include "runtime/registry.h"
#include "runtime/run_graph.h"
#include "runtime/run_kernel.h"
#include "vyre/diagnostic.h"
#include "vyre/optimizer.h"
#include "vyre/plan.h"
#include "vyre/program.h"
