"""What the benchmark knows of messages with gaps: kernels, ways, ratios."""

from straightway.bench import medians

# Each kernel's application, in the order of bench/kernels/kernels.h.
KERNELS = {
    "wrf_x_vec": "WRF", "wrf_x_sa": "WRF", "wrf_y_vec": "WRF",
    "wrf_y_sa": "WRF", "milc_su3_zd": "MILC", "nas_lu_x": "NAS LU",
    "nas_lu_y": "NAS LU", "nas_mg_x": "NAS MG", "nas_mg_y": "NAS MG",
    "nas_mg_z": "NAS MG", "specfem3d_oc": "SPECFEM3D",
    "specfem3d_cm": "SPECFEM3D", "specfem3d_mt": "SPECFEM3D",
    "lammps_full": "LAMMPS", "lammps_atomic": "LAMMPS", "fft2": "FFT2",
    "stencil2d": "stencil", "stencil3d": "stencil",
    "triangle": "lower triangle"}

# The sender's data: unchanged, or written anew before each message.
DATA = ("untouched", "fresh")

# hand: packed by loops, sent by the host. host, ours: the datatype.
# contiguous: Straightway sends as many bytes without gaps, the floor.
WAYS = ("hand", "host", "ours", "contiguous")

# planes: by hand, from and to a GPU, with a copy of two dimensions for each
# plane of runs. There, hand makes a copy for each run.
GPU_WAYS = (*WAYS, "planes")

# Where a rank's array lies.
MEMORIES = ("host", "gpu")

# The two ways that each ratio divides.
RATIOS = {"ratio": ("host", "ours"), "hand_ratio": ("hand", "ours"),
          "floor_ratio": ("ours", "contiguous")}
GPU_RATIOS = {**RATIOS, "planes_ratio": ("planes", "ours")}


def in_gpu(plan):
    """Whether an array of the plan lies in the memory of a GPU."""
    return "gpu" in plan.get("memory", ())


def ways(plan):
    """The ways that the plan measures."""
    return GPU_WAYS if in_gpu(plan) else WAYS


def ratios_of(plan):
    """The ratios of the plan's ways: {name: (above, below)}."""
    return GPU_RATIOS if in_gpu(plan) else RATIOS

# No array of a kernel exceeds this, nor the size of so many messages.
_LARGEST, _MESSAGES = 262 << 20, 1100


def memory(most):
    """Bytes for messages of `most` bytes at most: two arrays on two ranks."""
    return 4 * min(_LARGEST, _MESSAGES * most)


def ratios(cell, wanted=None):
    """The cell's own ratios; None where the run did not measure one of the two
    ways."""
    return {name: cell[above]["median"] / cell[below]["median"]
            if cell[above] and cell[below] else None
            for name, (above, below) in (wanted or RATIOS).items()}


def _mean(values):
    return medians.geometric_mean(values) if values else None


def means(cells, wanted=None):
    """Geometric means: {kernel: {data: {ratio: mean}}}, with a kernel "all".
    None: no cell has the ratio.
    """
    found = {}
    kernels = list(dict.fromkeys(c["operation"] for c in cells))
    for kernel in [*kernels, "all"]:
        for data in DATA:
            mine = [c for c in cells if c["data"] == data
                    and kernel in (c["operation"], "all")]
            if mine:
                found.setdefault(kernel, {})[data] = {
                    name: _mean([c[name] for c in mine if c[name]])
                    for name in wanted or RATIOS}
    return found
