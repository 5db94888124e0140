# A logistic fit by gradients. Each rank has its own part of the data, and the
# sums of the gradients go over all ranks, as well as R objects of any kind.
suppressMessages(library(Rmpi))
me <- mpi.comm.rank(0)
ranks <- mpi.comm.size(0)
set.seed(17)
n <- 40000
x <- matrix(rnorm(n * 20), n)
y <- as.numeric(x %*% rep(c(1, -1), 10) + rnorm(n) > 0)
mine <- seq(me + 1, n, by = ranks)
x <- x[mine, ]
y <- y[mine]
begun <- proc.time()[["elapsed"]]
w <- rep(0, 20)
for (step in 1:400) {
    p <- 1 / (1 + exp(-x %*% w))
    g <- mpi.allreduce(as.numeric(t(x) %*% (y - p)), type = 2, op = "sum",
                       comm = 0)
    w <- w + g / n
    if (step %% 50 == 0) {
        shown <- mpi.bcast.Robj(list(step = step, w = w), rank = 0, comm = 0)
        if (me == ranks - 1)     # the root gets nothing back
            cat("step", step, format(shown$w[1:4], digits = 12), "\n")
    }
}
if (me == ranks - 1)    # lines of two ranks could run into each other
    cat("time", proc.time()[["elapsed"]] - begun, "s\n")
invisible(mpi.barrier(0))
mpi.quit()
