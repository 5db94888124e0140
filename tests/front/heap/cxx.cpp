// C++ new, new[], aligned new, nothrow new and containers under the library.
#include <cstdint>
#include <cstdio>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

struct alignas(512) wide {
    double x[9000];
};

int main()
{
    std::vector<std::thread> threads;
    int bad = 0;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([t, &bad] {
            for (int round = 0; round < 50; round++) {
                std::vector<long> v;
                for (long i = 0; i < 100000; i++)
                    v.push_back(i + t);
                std::string s(200000, 'a' + t);
                wide *w = new wide[3];
                if (std::accumulate(v.begin(), v.end(), 0L) !=
                        4999950000L + 100000L * t ||
                    s[199999] != 'a' + t ||
                    reinterpret_cast<std::uintptr_t>(w) % 512)
                    __atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
                delete[] w;
            }
        });
    for (auto &t : threads)
        t.join();
    volatile std::size_t huge = SIZE_MAX / 2;
    if (::operator new(huge, std::nothrow))
        bad++;
    try {
        ::operator delete(::operator new(huge));
        bad++;
    } catch (const std::bad_alloc &) {
    }
    std::puts(bad ? "bad" : "ok");
    return bad != 0;
}
