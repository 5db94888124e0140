"""Where the ranks of a running job are, and what they wait for.

Each process of a job shows its MPI calls (src/watch/watch.h). A native program
reads what the processes of a node show. This room puts the readings together,
and finds out what keeps the job:

    reader.py     the native program's answers, of two looks
    launched.py   processes below a process; ranks that have no number yet
    model.py      jobs, ranks, calls, communicators, from the readings
    places.py     the line that stands for a stack
    traffic.py    messages without a receive, receives without a message
    standing.py   whether a rank waits, computes, polls, has stopped, is gone
    meetings.py   collectives, fences: the ranks that have come, or have not
    needs.py      what each rank that waits needs, and of which ranks
    chains.py     from the ranks that wait to the root of the waiting
    phrases.py    ranks, calls and places in words
    sentences.py  a need or a meeting as a sentence
    verdict.py    the findings in their order: the first is the verdict
    table.py      ranks in the same place as one row
    plain.py      what gdb and py-spy tell of a job without Straightway
    saved.py      all of it as plain data, and back

Nothing here writes to a process, or waits for one.
"""
