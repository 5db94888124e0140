// clocks_chrono.cc - a program that times its Alltoalls by std::chrono, and
// sleeps in the manner of C++.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "clocks.h"

template <typename Clock> static void by(const char *name, int loops)
{
    MPI_Barrier(MPI_COMM_WORLD);
    auto begin = Clock::now();
    exchange(loops);
    std::chrono::nanoseconds took = Clock::now() - begin;
    if (me == 0)
        printf("%s %lld.0\n", name, (long long)took.count());
}

int main(int argc, char **argv)
{
    using namespace std::chrono;
    int loops = argc > 1 ? atoi(argv[1]) : 10;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    by<steady_clock>("steady", loops);
    by<system_clock>("system", loops);
    by<high_resolution_clock>("high", loops);
    MPI_Barrier(MPI_COMM_WORLD);
    double wtime = MPI_Wtime();
    exchange(loops);
    wtime = MPI_Wtime() - wtime;
    double begin = MPI_Wtime();
    std::this_thread::sleep_for(milliseconds(20));
    double slept = MPI_Wtime() - begin;
    std::mutex mutex;
    std::condition_variable condition;
    std::unique_lock<std::mutex> lock(mutex);
    auto from = steady_clock::now();
    while (condition.wait_for(lock, milliseconds(20)) !=
           std::cv_status::timeout)
        ;
    nanoseconds waited = steady_clock::now() - from;
    if (me == 0)
        printf("wtime %.1f\nsleep_for %.1f\nwait_for %lld.0\nall is well\n",
               wtime * 1e9, slept * 1e9, (long long)waited.count());
    MPI_Finalize();
    return 0;
}
