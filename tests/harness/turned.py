"""Files of runs in turns, made by hand (straightway/study/turns.py).

    found = turned(pairs=40, gain=0.04)
    path.write_text(json.dumps(found))
"""

import random

MS = 1000 ** 2
PERIOD, PERIODS = 4, 5          # calls in a period, periods in an epoch


def turned(pairs=100, gain=0.04, noise=0.003, ranks=2, epoch=10 * MS,
           learning=30 * MS, state="turned", gains=None, seed=1, **more):
    """The content of a file. `gains`: of the pair's number, in place of
    `gain`; `more`: entries of the file."""
    rng = random.Random(seed)
    calls = PERIOD * PERIODS
    epochs = [[1, -1, 0, calls, 1]]
    times = [[learning] * ranks]
    now = learning
    for pair in range(pairs):
        saved = gains(pair) if gains else gain
        for side in rng.sample((0, 1), 2):
            ns = int(epoch * (1 - saved * side) * rng.gauss(1, noise))
            epochs.append([side, pair, now, calls, 0])
            # Rank 0 is last.
            times.append([ns - rank * MS // 10 for rank in range(ranks)])
            now += ns
    return {
        "schema": "straightway-turns/1", "ranks": ranks, "state": state,
        "began_ns": 0, "ended_ns": now, "init_ns": [8 * MS] * ranks,
        "seed": "0123456789abcdef", "same": False,
        "calls": calls * len(epochs), "period": PERIOD, "messages": "turns",
        "messages_why": "", "switches": 2 * pairs, "switching_ns": 1000 * pairs,
        "columns": ["side", "pair", "began_ns", "calls", "flags"],
        "epochs": epochs, "times": times, **more}
