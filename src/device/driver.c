/*
 * driver.c - the drivers' binary interfaces, as far as they are needed here.
 *
 * No header of theirs is included, so that any build serves all of them. The
 * functions below belong to each library's stable interface. An error, as of a
 * driver that is loaded and not initialised, means that no device holds the
 * address.
 */
#include "driver.h"

#include "cuda.h"
#include "node/os/os.h"

/* CUDA: libcuda.so.1 --------------------------------------------------- */

static int (*cuda_attributes)(unsigned n, int *attribute, void **value,
                              unsigned long long at);

static bool cuda_bind(void *handle)
{
    *(void **)&cuda_attributes = sw_os_symbol(handle, "cuPointerGetAttributes");
    sw_cuda_bind(handle);
    return cuda_attributes;
}

/* Of what it does not know, the driver says 0. */
static bool cuda_holds(const void *at)
{
    unsigned type = 0, managed = 0;
    int attribute[] = {SW_CUDA_MEMORY_TYPE, SW_CUDA_IS_MANAGED};
    void *value[] = {&type, &managed};
    return cuda_attributes(2, attribute, value, (uintptr_t)at) == SW_CUDA_OK &&
           type == SW_CUDA_MEMORY_DEVICE && !managed;
}

/* HIP and ROCm: libhsa-runtime64.so.1 -----------------------------------
 *
 * HIP stands on HSA, and a question to HSA leaves no error behind that the
 * program would find in hipGetLastError. */

enum {
    HSA_SUCCESS = 0,
    HSA_KNOWN = 1,
    HSA_OF_ANOTHER_PROCESS = 4,
    HSA_AGENT_DEVICE = 17,
    HSA_GPU = 1
};

typedef struct {
    uint32_t size;
    int type;
    void *agent_base, *host_base;
    size_t bytes;
    void *user_data;
    uint64_t owner;
    uint64_t later[8]; /* fields of newer versions */
} hsa_info_t;

static int (*hsa_pointer_info)(const void *at, hsa_info_t *info,
                               void *(*allocate)(size_t), uint32_t *agents,
                               uint64_t **agent);
static int (*hsa_agent_info)(uint64_t agent, int attribute, void *value);

static bool hsa_bind(void *handle)
{
    *(void **)&hsa_pointer_info = sw_os_symbol(handle, "hsa_amd_pointer_info");
    *(void **)&hsa_agent_info = sw_os_symbol(handle, "hsa_agent_get_info");
    return hsa_pointer_info && hsa_agent_info;
}

static bool hsa_holds(const void *at)
{
    hsa_info_t info = {.size = sizeof info};
    int device = 0;
    return hsa_pointer_info(at, &info, NULL, NULL, NULL) == HSA_SUCCESS &&
           (info.type == HSA_KNOWN || info.type == HSA_OF_ANOTHER_PROCESS) &&
           hsa_agent_info(info.owner, HSA_AGENT_DEVICE, &device) ==
               HSA_SUCCESS &&
           device == HSA_GPU;
}

/* Level Zero: libze_loader.so.1 ------------------------------------------ */

static bool ze_bind(void *handle)
{
    return handle;
}

static bool ze_holds(const void *at)
{
    return !sw_os_readable((const void *)((uintptr_t)at & ~(uintptr_t)7));
}

const sw_driver_t sw_drivers[SW_DRIVERS] = {
    {"libcuda.so", cuda_bind, cuda_holds},
    {"libhsa-runtime64.so", hsa_bind, hsa_holds},
    {"libze_loader.so", ze_bind, ze_holds},
};
