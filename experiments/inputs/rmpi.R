# What Rmpi offers of collectives, on numbers and on objects of R.
library(Rmpi)
rank <- mpi.comm.rank(0)
ranks <- mpi.comm.size(0)
sum <- 0
for (step in 1:10) {
  mpi.barrier(0)
  values <- mpi.bcast(as.double(step) * sin(1:500), type = 2, rank = step %% ranks, comm = 0)
  added <- mpi.allreduce(values * (rank + 1), type = 2, op = "sum", comm = 0)
  integers <- mpi.allreduce(as.integer(1:100 + rank), type = 1, op = "max", comm = 0)
  gathered <- mpi.allgather(as.double(rank + step), type = 2, rdata = double(ranks), comm = 0)
  object <- list(name = "step", step = step)
  if (rank == 0) mpi.bcast.Robj(object, rank = 0, comm = 0) else object <- mpi.bcast.Robj(rank = 0, comm = 0)
  all <- mpi.allgather.Robj(list(rank = rank, step = step), comm = 0)
  part <- mpi.scatter(as.double(1:(8 * ranks) + step), type = 2, rdata = double(8), root = 0, comm = 0)
  sum <- sum + sum(added) + sum(integers) + sum(gathered) + object$step + length(all) + sum(part)
}
total <- mpi.reduce(sum, type = 2, op = "sum", dest = 0, comm = 0)
if (rank == 0) cat(sprintf("own %.15g total %.15g\n", sum, total))
mpi.quit()
