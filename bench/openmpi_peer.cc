// A process of `banyan bench wan`, which lets mpirun start it: MPI's all-reduce.

#define OMPI_SKIP_MPICXX 1
#include <mpi/mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "bench/all_reduce_rounds.h"
#include "bench/round_barrier.h"

namespace banyan {
namespace {

constexpr char kUsage[] = "usage: mpirun .. openmpi_peer GATE ELEMENTS";

absl::Status Sum(absl::Span<float> values) {
  const int code =
      MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  return code == MPI_SUCCESS ? absl::OkStatus() : absl::InternalError(absl::StrCat("MPI_Allreduce: error ", code));
}

absl::Status RunPeer(const std::vector<std::string>& arguments) {
  int64_t elements = 0;
  if (arguments.size() != 2 || !absl::SimpleAtoi(arguments[1], &elements) || elements < 1) {
    return absl::InvalidArgumentError(kUsage);
  }
  AllReduceMember member;
  MPI_Comm_rank(MPI_COMM_WORLD, &member.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &member.world);
  absl::StatusOr<std::unique_ptr<RoundBarrier>> barrier = RoundBarrier::Open(arguments[0], member.world);
  if (!barrier.ok()) return barrier.status();
  InPlaceAllReduce all_reduce(elements, Sum);
  return RunAllReduceRounds(**barrier, member, all_reduce);
}

}  // namespace
}  // namespace banyan

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const absl::Status status = banyan::RunPeer(std::vector<std::string>(argv + 1, argv + argc));
  const int code = banyan::ExitCode("openmpi_peer", status);
  // The others would wait for ever.
  if (code != 0) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
  return code;
}
